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

// judge makes a ruling of what was heard; heard[i] false means that node i has
// not been heard yet. The two slices are of one length, the number of configured nodes.
func judge(req *Request, answers []Answer, heard []bool) Ruling {
	switch req.Op {
	case Get, Remaining:
		return judgeValues(req, answers, heard)
	case Delete, Exists, Expire, Size:
		return judgeNumbers(req, answers, heard)
	default:
		return judgeVotes(answers, heard)
	}
}

func count(answers []Answer, heard []bool) (v Votes) {
	for i := range answers {
		switch {
		case !heard[i]:
			v.Open++
		case answers[i].Counted() == Yes:
			v.Yes++
		case answers[i].Counted() == No:
			v.No++
		default:
			v.Unknown++
		}
	}
	return v
}

func judgeVotes(answers []Answer, heard []bool) Ruling {
	votes := count(answers, heard)
	r := Ruling{Verdict: votes.Verdict(), Votes: votes}
	if r.Verdict == Denied {
		r.Number = whyDenied(answers, heard)
	}
	return r
}

// whyDenied is Other only where a majority holds another token: a minority may
// be what is left of somebody's undo.
func whyDenied(answers []Answer, heard []bool) int64 {
	others := 0
	for i, a := range answers {
		if heard[i] && a.Counted() == No && a.Number == Other {
			others++
		}
	}
	if others >= Majority(len(answers)) {
		return Other
	}
	return Missing
}

// judgeValues grants the value that a majority holds. Whoever holds anything else,
// or nothing, has said no to it.
func judgeValues(req *Request, answers []Answer, heard []bool) Ruling {
	votes := count(answers, heard)
	best, holders := 0, 0
	for i, a := range answers {
		if !heard[i] || a.Counted() != Yes {
			continue
		}
		same := 0
		for j, b := range answers {
			if heard[j] && b.Counted() == Yes && bytes.Equal(a.Value, b.Value) {
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
		r.Value = answers[best].Value
		r.Number = heldFor(r.Value, answers, heard)
	}
	return r
}

// heldFor is the time after which fewer than a majority still hold value: the
// majority-th largest of their remaining times. Nodes not heard yet can only make it
// longer, so that it is never a promise too long.
func heldFor(value []byte, answers []Answer, heard []bool) int64 {
	var room [32]int64
	times := room[:0]
	for i, a := range answers {
		if heard[i] && a.Counted() == Yes && bytes.Equal(a.Value, value) {
			times = append(times, a.Number)
		}
	}
	return nthLargest(times, Majority(len(answers)))
}

// judgeNumbers rules that the number is the one that a majority reached: the
// majority-th largest. It stands once what is unknown could not change it.
func judgeNumbers(req *Request, answers []Answer, heard []bool) Ruling {
	var room [32]int64
	numbers := room[:0]
	votes := count(answers, heard)
	for i, a := range answers {
		if heard[i] && a.Counted() != Unknown {
			numbers = append(numbers, a.Number)
		}
	}
	majority := Majority(len(answers))
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
