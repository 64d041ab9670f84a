package quorum

import "time"

// Vote is what one node said. The zero value is Unknown, the safe one: whoever
// forgets to say something has said nothing.
type Vote uint8

const (
	// Unknown is every answer that is neither yes nor no: timed out, cut off,
	// refused, not believed. It is never folded into No, and never into Yes (R13).
	Unknown Vote = iota
	// Yes is an acceptance: the lock was set, deleted, extended, found.
	Yes
	// No is the node's own word that it was not.
	No
)

func (v Vote) String() string {
	switch v {
	case Yes:
		return "yes"
	case No:
		return "no"
	default:
		return "unknown"
	}
}

// Trace is what a request whose vote is Unknown may have left on its node.
type Trace uint8

const (
	// Nothing: the request never left, or the node refused it.
	Nothing Trace = iota
	// Awaited: it was sent, no answer came in time, one may still come.
	Awaited
	// Lost: it was sent, and its answer can never come any more.
	Lost
)

// Answer is what is known of one node's answer to one request. A node that
// answers late is heard twice: first Unknown and Awaited, then with what it said.
type Answer struct {
	Vote  Vote
	Trace Trace // only of an Unknown vote

	// Doubt, if not nil, is why the vote does not count although the node cast
	// it: a node that may have forgotten something, or whose clock has jumped.
	// The verdict sees Unknown; the undo still sees the Yes, because the key is set.
	Doubt error
	// Err is why the vote is Unknown, or was when the verdict was given.
	Err error

	// Value is what the key holds (Get), or held (Old); nil if it was missing.
	Value []byte
	// Number is the count of keys (Delete, Exists, Expire, Release of each), or what was found at the key: Missing, Other or Mine.
	Number int64
	// Left is how many milliseconds the lock had left that a Release deleted, the longest if there were many.
	Left int64
	// Stamp is when the keys of a Take expire by the node's clock, in milliseconds since 1970, or up to Spread before; 0 if it was not told.
	Stamp  int64
	Spread time.Duration
	// Seen is what Inspect found, by key.
	Seen []Held

	// At is our clock when the answer was read, or given up.
	At time.Duration
}

// What a node found at the key, or at the keys.
const (
	Missing int64 = -1 // the key does not exist; of many keys: none does
	Other   int64 = -2 // the key holds another token; of many: what was found is none of the others
	Blocked int64 = -3 // the key is held by somebody unknown (P8), so that the vote is Unknown (P2)
	Mine    int64 = -4 // the key holds this token; of many: one or more do, where a Take allows that
)

// Held is what a key holds.
type Held struct {
	Exists bool
	Value  []byte
	Left   int64 // milliseconds, or Forever
}

// Forever stands for the remaining time of a key without expiry, in milliseconds.
const Forever int64 = 1<<53 - 1

// Counted is the vote as the verdict sees it.
func (a Answer) Counted() Vote {
	if a.Doubt != nil {
		return Unknown
	}
	return a.Vote
}

// Verdict is what a round says. The zero value promises nothing.
type Verdict uint8

const (
	// Open: votes are outstanding that can still change the verdict.
	Open Verdict = iota
	// Granted: a majority of the configured nodes said yes, in time.
	Granted
	// Denied: a majority answered, and the answer is no.
	Denied
	// Undecided: too few answered to say.
	Undecided
)

func (v Verdict) String() string {
	switch v {
	case Granted:
		return "granted"
	case Denied:
		return "denied"
	case Undecided:
		return "undecided"
	default:
		return "open"
	}
}

// Majority of n configured nodes, never of the reachable ones (R14).
func Majority(n int) int {
	if planted == BugHalf {
		return max(1, n/2)
	}
	return n/2 + 1
}
