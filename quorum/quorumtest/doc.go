// Package quorumtest simulates a fleet, for tests in virtual time: nodes that speak the
// Redis protocol over in-memory connections, and that hang, answer slowly, die and forget on
// command. Whoever wants the truth asks a real redis-server; whoever wants every
// millisecond under control asks this.
package quorumtest
