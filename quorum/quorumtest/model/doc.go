// Package model searches the rules of readmission (P1 to P13) for two holders of one lock.
//
// It is the protocol without its code: nodes, pipes, proxies, teachers and faults as one small value, State, and
// all that can happen next, World.Actions. A double grant is two clients that believe at the same
// moment that they hold the lock, each from the verdict until T1 + ttl, or until it sends the release.
// Every rule can be taken out by name (rules.go). Without any one of those marked (!) a search finds a double grant, and
// tells it in words; with all of them it finds none. So the searches are known to see what they look for.
//
//	rules.go     the clauses, by P-number, and what is done when one is taken out
//	state.go     what there is
//	scenario.go  the bounds of a search, and where it begins
//	action.go    what can happen next
//	link.go      flushes, tails, what counts, clock steps (P2, P4)
//	attempt.go   takes, extends, verdicts (P3), undo, release, top-up
//	teach.go     readmission (P5 to P10, P13), a new fleet (P11)
//	fault.go     restarts, flushes, clock steps, lost connections, crashes
//	search.go    random walks, search to exhaustion, shortening of a trace
//	explore.go   walks that go on from where earlier ones came by
//	words.go     a trace in words
//
// # Time
//
// There is one true time, in whole ticks. Any number of steps fit between two ticks, and a tick may come before
// any step: so everything may be late, and a pause is nothing special. A proxy that pauses before a verdict is one
// that reads the last answer later. A ttl is a few ticks, R one to four. A node's clock is the true time and an
// offset; a step changes the offset. Proxies know the true time: they measure durations only.
//
// # Connections
//
// A pipe is a queue. The node carries out what was sent in order, whole flushes or command by command
// (Scenario.Split), and the answers are read in order, later. Behind each request go TIME and GET boot. When a
// node restarts, what it has answered may still be read. When a connection is cut, the answers are lost, and the
// requests are lost or arrive later still; on the new connection they may even be overtaken (Scenario.Coexist).
// A teacher's requests and an admission's are carried out when they are sent: being late is covered by being
// sent late, since nothing is decided in between but by the node.
//
// # Left out
//
// Different clock rates, rounding, SCAN's internals (one key is read at one moment), eviction, more than one lock,
// a token that is used twice (so also the second try of a take after a split vote), overwrites and deletes by clients, reads,
// an operator's ADMIT, two instances behind one address at once. An extend never asks for less time than is left.
//
// Accepted, with a test that shows each: a clock that steps there and back between two looks; a step below
// clock-tolerance while no proxy is connected that knew the clock before; all vouched memory lost at once. For the
// last, a lock that a majority had granted before is excused, unless Scenario.Strict.
package model
