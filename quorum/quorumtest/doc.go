// Package quorumtest simulates a fleet, for tests in virtual time: nodes that speak the
// Redis protocol over in-memory connections, run scripts for real, and that hang, answer slowly, die, forget, come back with an
// old snapshot and have clocks that jump, on command. Whoever wants the truth asks a real redis-server; whoever wants every
// millisecond under control asks this.
package quorumtest
