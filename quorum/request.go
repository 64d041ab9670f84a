package quorum

import "time"

// Op is what is asked of every node in a round.
type Op uint8

const (
	// Take sets Key to Token for Life, only if the key does not exist (R5); Own says what else it may find.
	Take Op = iota + 1
	// Overwrite sets Key to Token for Life, whatever it held, if If allows it.
	Overwrite
	// Release deletes Key if it holds Token, in one atomic step (R7).
	Release
	// Extend gives Key a new expiry if it holds Token, in one atomic step (R20).
	Extend
	// Get reads the value of Key.
	Get
	// Inspect reads the values of Keys together with their remaining times.
	Inspect
	// Delete deletes Keys and counts them, if If allows it.
	Delete
	// Exists counts which of Keys exist.
	Exists
	// Expire gives Key a new expiry, whoever holds it, if If allows it.
	Expire
	// Size counts all keys.
	Size
	// TakeBack deletes Key if it holds Token and its expiry shows that this
	// attempt set it: the undo.
	TakeBack
	// TopUp gives a node the rest of a lock that was granted without it: sets Key to Token if it does not exist, and
	// lengthens it if it holds Token. It never counts as a vote.
	TopUp
)

func (o Op) String() string {
	return [...]string{"?", "take", "overwrite", "release", "extend", "get", "inspect",
		"delete", "exists", "expire", "size", "take back", "top up"}[o]
}

// Promises says whether a yes to the operation promises time, so that it must be
// judged against the clock as well (R14, R20).
func (o Op) Promises() bool {
	if planted == BugExtendNoLimit && o == Extend {
		return false
	}
	return o == Take || o == Overwrite || o == Extend || o == Expire
}

// ForAll says that the operation is told to nodes that are not vouched for as well (P12): what only removes, and what gives
// a node a lock that is granted already. The others would be a waste, since their votes would not count, and a
// take must not be sent at all (P2).
func (o Op) ForAll() bool {
	return o == Release || o == TakeBack || o == Delete || o == TopUp
}

// Own says what a Take does with a key that holds its token already.
type Own uint8

const (
	OwnRefused Own = iota // it is refused, like any other: SET NX
	OwnEach               // it is taken again, with a new expiry; each of the keys may be missing or hold its token
	OwnAll                // the same, but either all keys are missing or all hold their tokens
)

// Condition is what must be true of a key for it to be changed.
type Condition uint8

const (
	Always     Condition = iota
	IfMissing            // NX of SET
	IfExists             // XX of SET
	IfEqual              // IFEQ
	IfNotEqual           // IFNE: it holds something else, or nothing
	// Of an Expire:
	IfNoExpiry // NX
	IfExpiry   // XX
	IfLater    // GT: the new expiry is later than the present one
	IfSooner   // LT
)

// Request is one command as the nodes get it: the same for all of them (R11).
// It is not changed once it was sent, as long as a node has not had its last word (Node.Send): then its memory may become
// another's. What it refers to may be kept for longer: its slices, but for Wire, must not be reused.
type Request struct {
	Op Op

	// What stands here is looked at with each answer, by whichever processor reads it: it shares a cache line.

	// Own says what a Take does with keys that hold their tokens already.
	Own Own
	// If is the condition of an Overwrite, a Delete of one key, an Expire. Was is for IfEqual and IfNotEqual.
	If Condition
	// Old: an Overwrite, a Delete of one key or an Expire also answers the value from before.
	Old bool
	// Each: a Release deletes every one of Keys that holds its token, and counts them, instead of all or none.
	Each bool
	// Fixed: TTL ends at an instant that the client has named, so that the round must not be
	// tried again later.
	Fixed bool
	// Add: Extend adds Life to the remaining time instead of setting it; the sum
	// is cut at Cap.
	Add bool
	// TTL is what the client asked for; Life is what the nodes are given for it.
	TTL, Life time.Duration

	Key   []byte
	Token []byte // any bytes, also none; not necessarily unique (R6 is the client's to keep)

	// Keys in place of Key. Delete, Exists and Inspect have no other. Take, Release and Extend, and what is amended after them,
	// have them if there are many, with a token for each: then they are all-or-none on every node.
	Keys, Tokens [][]byte
	// Prefix, if not 0, is how many bytes of the token a Take with Own compares: what follows them may differ.
	Prefix int
	Was    []byte
	Cap    time.Duration

	// SetBy is, on our clock: for TakeBack, a moment by which the key that is meant had been set for Life; for TopUp, the
	// moment from which Life counts.
	SetBy time.Duration

	// Stamp, of a TakeBack, if not 0, is when the key that is meant expires by the node's clock, in milliseconds since 1970: besides
	// what SetBy and Life say.
	Stamp  int64
	Spread time.Duration // or up to that much earlier

	// Later: not to be told before the node is vouched for. It takes away what a lesson may copy meanwhile.
	Later bool

	// Wire is for whoever implements Node: what the request looks like on its wire,
	// made once for all nodes; nil if that depends on when it is told.
	Wire []byte
}

// most is the highest number one node can count to: the bound for what an unheard one might say.
func (r *Request) most() int64 {
	if r.Op == Delete || r.Op == Exists || r.Each {
		return int64(max(1, len(r.Keys)))
	}
	return 1
}

// Rest is, for a TopUp told to a node at now, what is left of Life.
func (r *Request) Rest(now time.Duration) time.Duration { return r.SetBy + r.Life - now }

// Most is, for a TakeBack told to a node at now, the most remaining time that the key may have: what was set
// after SetBy has more. Clocks differ by Drift of what has gone by since.
func (r *Request) Most(now time.Duration) time.Duration {
	since := now - r.SetBy
	return r.Life - since + Drift(since)
}
