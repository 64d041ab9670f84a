package quorum

import "time"

// Node is one configured master, as the rounds see it. Implementations put requests
// on one ordered pipe, so that an undo can never overtake its request.
type Node interface {
	// Name says which node this is to people: an address, never a password.
	Name() string

	// Send asks the node. It never blocks, and keeps the order of the calls. The
	// answer goes to voter.Hear(i, …) in any case: Unknown if nothing came by the time
	// that Patience.Due says. If that Unknown was Awaited, Hear is called once more, when
	// the node has answered after all, or no longer can. Hear may be called before
	// Send returns.
	Send(req *Request, now time.Duration, voter Voter, i int)

	// Owe tells the node req, whose answer nobody waits for, in order with what is sent; later, where
	// that cannot be, and again when the connection was lost or the node has answered with an error; but not
	// after until.
	Owe(req *Request, until time.Duration)

	// State is a snapshot for people.
	State() NodeState
}

// Voter hears what nodes say. It must not block.
type Voter interface {
	Hear(i int, a Answer)
}

// NodeState is what is known of a node, for INFO and the log.
type NodeState struct {
	Name    string
	Health  Health
	Since   time.Duration // our clock, when Health became what it is
	Why     string        // what was wrong last; empty if nothing ever was
	WhyAt   time.Duration // our clock, when Why was seen last
	Queued  int           // requests that the node has not answered
	Owed    int           // undo and release requests kept for it
	Dropped uint64        // undo and release requests that there was no room to keep
	Version string        // as the node gave it, empty if it did not
}
