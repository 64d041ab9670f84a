// Package sim runs whole worlds of redlockd from one number: nodes, several redlockd, their clients, the network between them and
// everything that can go wrong with these, in virtual time. A seed makes all choices; there is one loop of events (loop.go), no clock, no
// socket and nothing that runs beside it, so that a seed is always the same world, to the last letter, on every machine.
//
//	go test ./quorum/... -run Sim -seed N    one seed, with all that happens in it: when, who, what
//	go run ./bench sim --for 10m             many seeds, and how often what went wrong in them
//	go test -tags planted -run Planted ./quorum/quorumtest/sim -v     bugs planted on purpose, and how many seeds it took to find each
//
// What is real: every decision of package quorum (rounds and their verdicts, amends, validity, patience, watches, marks, clocks, lessons),
// the words that quorum/backend says to nodes and its scripts, which run in Lua on quorumtest's nodes, and how it reads the answers. What is
// not: sockets, goroutines and timers. So the code between those and the decisions (quorum.Fleet; backend's link, pipe, attend and
// teach; the proxy's session) stands here a second time, without them, under the same names: whoever changes one changes the other.
//
//	world.go     one seed, from its beginning to its end
//	mix.go       what a seed makes of the world; focus.go: what it looks at
//	loop.go      time and chance            process.go   what can be stopped; tasks
//	machine.go   a node                     socket.go    a connection to it
//	proxy.go     a redlockd, its rounds     link.go, pipe.go, attend.go, lesson.go,
//	             side.go, found.go: what backend does
//	client.go    who takes locks            fault.go, betrayal.go: what goes wrong
//	check.go     the laws, and who watches that they are kept; window.go: that a lock has one holder
//	bugs.go      the bugs that can be planted (quorum.Bug)
//
// # What is checked
//
// A client relies on a lock from the moment at which it could know until its ttl is over, counted from before it asked. Two such windows of
// one key never overlap. A grant was carried out by a majority of the configured nodes, in time; a denial was answered by one. No release,
// extend or undo reaches somebody else's lock. What was not granted is undone where that is possible. No key outlives its ttl. And when
// the faults have stopped, every lock can be taken again, within a bound.
//
// # What is accepted
//
// As README says: all memory lost at once; half of the clocks or more wrong at once, or one that goes there and back; a step below
// clock-tolerance that no redlockd has witnessed; what somebody else with the same token does (Options.Strict shows that it happens). A
// lock lasts longer on a node that was taught by as much as the copy of it took.
package sim
