package quorum

import "time"

// Node is one configured master, as the rounds see it. Implementations put requests
// on one ordered pipe, so that an undo can never overtake its request.
type Node interface {
	// Name says which node this is to people: an address, never a password.
	Name() string

	// Send asks the node, at the next Flush. It never blocks, and keeps the order of the calls. The
	// answer goes to voter.Hear(i, …) in any case: Unknown if nothing came by the time
	// that Patience.Due says. If that Unknown was Awaited, Hear is called once more, when
	// the node has answered after all, or no longer can. Hear may be called before
	// Send returns.
	Send(req *Request, now time.Duration, voter Voter, i int)

	// Flush writes what was sent until now, all in one piece if it can: now is our clock, read before. It never blocks:
	// what the system does not take at once is written behind the caller's back.
	Flush(now time.Duration)

	// Owe tells the node req, whose answer nobody waits for, in order with what is sent; later, where
	// that cannot be, and again when the connection was lost or the node has answered with an error; but not
	// after until.
	Owe(req *Request, until time.Duration)

	// State is a snapshot for people.
	State() NodeState

	// Admit is the operator's word that the node may vote again, although too few others can teach it (P10). It
	// is still taught by those that can. The error says why there is nothing to admit.
	Admit() error
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
	RunID   string        // of the running instance
	Role    string        // master, or what else the node says it is

	// Vouched: this instance has forgotten nothing that still matters; its yes counts (P2).
	Vouched      bool
	VouchedSince time.Duration // our clock, when Vouched became what it is
	VouchedWhy   string        // how it came to be so: "restarted", "clock stepped by 2s", "taught by 3 nodes"
	Teaching     string        // how far it has come; empty if the node is not being taught by us

	ClockOffset time.Duration // the node's clock minus our wall clock, to half a round trip
	ClockDrift  float64       // how much faster than ours the node's clock runs, in parts per million
	Latency     time.Duration // from a flush to its last answer, smoothed
}
