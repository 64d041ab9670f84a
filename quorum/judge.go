package quorum

import (
	"bytes"
	"slices"
)

// Votes counts what the nodes of a round said, as far as it counts.
type Votes struct {
	Yes, No, Unknown int
	Open             int // not heard yet
}

// N is the number of configured nodes.
func (v Votes) N() int { return v.Yes + v.No + v.Unknown + v.Open }

// Verdict is given as soon as no later vote can change it.
//
// Denied needs two things: that a majority answered, and that the unknown votes
// could not have made it a grant. Two yes, two no and one unknown of five is
// therefore Undecided: the fifth node may be the one that matters.
func (v Votes) Verdict() Verdict {
	majority := Majority(v.N())
	switch {
	case v.Yes >= majority:
		return Granted
	case v.Yes+v.Open >= majority:
		return Open
	case v.Yes+v.No+v.Open < majority, v.Yes+v.Unknown >= majority:
		return Undecided // not even if all that are open said no would it be denied
	case v.Yes+v.No >= majority && v.Yes+v.Unknown+v.Open < majority:
		return Denied
	default:
		return Open
	}
}

// Split says that the vote may have been split between several clients: some
// said yes, a majority answered, and it was not enough.
func (v Votes) Split() bool {
	return v.Yes > 0 && v.Yes < Majority(v.N()) && v.Yes+v.No >= Majority(v.N())
}

// Ruling is a verdict and what goes with it.
type Ruling struct {
	Verdict Verdict
	Votes   Votes
	Value   []byte // Get, Remaining: what a majority holds
	Number  int64  // counts, remaining milliseconds, or why it was denied (Missing, Other)
}

// judge makes a ruling of what was heard. There is a slot for every configured node.
func judge(req *Request, slots []slot) Ruling {
	switch req.Op {
	case Get, Remaining:
		return judgeValues(req, slots)
	case Delete, Exists, Expire, Size:
		return judgeNumbers(req, slots)
	default:
		return judgeVotes(slots)
	}
}

func count(slots []slot) (v Votes) {
	for i := range slots {
		switch s := &slots[i]; {
		case !s.heard:
			v.Open++
		case s.Counted() == Yes:
			v.Yes++
		case s.Counted() == No:
			v.No++
		default:
			v.Unknown++
		}
	}
	return v
}

func judgeVotes(slots []slot) Ruling {
	votes := count(slots)
	r := Ruling{Verdict: votes.Verdict(), Votes: votes}
	if r.Verdict == Denied {
		r.Number = whyDenied(slots)
	}
	return r
}

// whyDenied is Other only where a majority holds another token: a minority may
// be what is left of somebody's undo.
func whyDenied(slots []slot) int64 {
	others := 0
	for i := range slots {
		if s := &slots[i]; s.heard && s.Counted() == No && s.Number == Other {
			others++
		}
	}
	if others >= Majority(len(slots)) {
		return Other
	}
	return Missing
}

// holds says that the node was heard, and that its vote for this value counts.
func (s *slot) holds(value []byte) bool {
	return s.heard && s.Counted() == Yes && bytes.Equal(s.Value, value)
}

// judgeValues grants the value that a majority holds. Whoever holds anything else,
// or nothing, has said no to it.
func judgeValues(req *Request, slots []slot) Ruling {
	votes := count(slots)
	best, holders := 0, 0
	for i := range slots {
		if !slots[i].holds(slots[i].Value) {
			continue
		}
		same := 0
		for j := range slots {
			if slots[j].holds(slots[i].Value) {
				same++
			}
		}
		if same > holders {
			best, holders = i, same
		}
	}
	votes.No += votes.Yes - holders
	votes.Yes = holders
	r := Ruling{Verdict: votes.Verdict(), Votes: votes}
	if r.Verdict == Granted {
		r.Value = slots[best].Value
		r.Number = heldFor(r.Value, slots)
	}
	return r
}

// heldFor is the time after which fewer than a majority still hold value: the
// majority-th largest of their remaining times. Nodes not heard yet can only make it
// longer, so that it is never a promise too long.
func heldFor(value []byte, slots []slot) int64 {
	var room [32]int64
	times := room[:0]
	for i := range slots {
		if slots[i].holds(value) {
			times = append(times, slots[i].Number)
		}
	}
	return nthLargest(times, Majority(len(slots)))
}

// judgeNumbers rules that the number is the one that a majority reached: the
// majority-th largest. It stands once what is unknown could not change it.
func judgeNumbers(req *Request, slots []slot) Ruling {
	var room [32]int64
	numbers := room[:0]
	votes := count(slots)
	for i := range slots {
		if s := &slots[i]; s.heard && s.Counted() != Unknown {
			numbers = append(numbers, s.Number)
		}
	}
	majority := Majority(len(slots))
	r := Ruling{Votes: votes}
	if votes.Yes+votes.No+votes.Open < majority {
		r.Verdict = Undecided
		return r
	}
	if votes.Yes+votes.No < majority {
		return r
	}
	least := nthLargest(numbers, majority)
	if req.Op == Size { // not a vote: what a majority reached so far is good enough
		r.Number, r.Verdict = least, Granted
		return r
	}
	for range votes.Unknown + votes.Open {
		numbers = append(numbers, req.most())
	}
	switch {
	case least == nthLargest(numbers, majority):
		r.Number = least
		r.Verdict = Denied
		if least > 0 {
			r.Verdict = Granted
		}
	case votes.Open == 0:
		r.Verdict = Undecided
	}
	return r
}

// nthLargest sorts numbers, the largest first, and returns the n-th, counted from 1.
func nthLargest(numbers []int64, n int) int64 {
	slices.SortFunc(numbers, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	return numbers[n-1]
}
