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
	Value   []byte // Get: what a majority holds; Old: what a majority held, nil if that was nothing, or not one value
	Number  int64  // counts; or what a majority found at the key: Missing, Other, Mine
	Seen    []Held // Inspect: what a majority holds, by key; drift is not taken off
}

// byVotes says that the verdict is that of the votes alone: while theirs is open, judge says no more.
func (r *Request) byVotes() bool {
	return !r.Old && !r.Each && (r.Op == Take || r.Op == Overwrite || r.Op == Release || r.Op == Extend)
}

// judge makes a ruling of what was heard. There is a slot for every configured node.
func judge(req *Request, slots []slot) Ruling {
	switch {
	case req.Old:
		return judgeOld(slots)
	case req.Op == Get:
		return judgeValue(slots)
	case req.Op == Inspect:
		return judgeKeys(req, slots)
	case req.Op == Delete, req.Op == Exists, req.Op == Expire, req.Op == Size, req.Each:
		return judgeNumbers(req, slots)
	default:
		return judgeVotes(slots)
	}
}

func count(slots []slot) (v Votes) {
	for i := range slots {
		*v.of(&slots[i])++
	}
	return v
}

// of is the number that a slot is counted in.
func (v *Votes) of(s *slot) *int {
	switch {
	case !s.heard:
		return &v.Open
	case s.counted() == Yes:
		return &v.Yes
	case s.counted() == No:
		return &v.No
	default:
		return &v.Unknown
	}
}

func judgeVotes(slots []slot) Ruling {
	votes := count(slots)
	r := Ruling{Verdict: votes.Verdict(), Votes: votes}
	switch r.Verdict {
	case Denied:
		r.Number = found(slots, No)
	case Granted:
		if found(slots, Yes) == Mine {
			r.Number = Mine
		}
	}
	return r
}

// found is what a majority found at the key, among those that voted so; else Missing: a minority may be what is left of somebody's undo.
func found(slots []slot, vote Vote) int64 {
	others, mine := 0, 0
	for i := range slots {
		if s := &slots[i]; s.heard && s.counted() == vote {
			switch s.Number {
			case Other:
				others++
			case Mine:
				mine++
			}
		}
	}
	switch majority := Majority(len(slots)); {
	case others >= majority:
		return Other
	case mine >= majority:
		return Mine
	default:
		return Missing
	}
}

// judgeValue grants the value that a majority holds. Whoever holds anything else,
// or nothing, has said no to it.
func judgeValue(slots []slot) Ruling {
	value, votes := commonest(slots, func(s *slot) ([]byte, bool) { return s.more().Value, s.Vote == Yes })
	r := Ruling{Verdict: votes.Verdict(), Votes: votes}
	if r.Verdict == Granted {
		r.Value = value
	}
	return r
}

// commonest is the value that most of the nodes gave, and the votes on it: those that gave another or none say no.
func commonest(slots []slot, of func(*slot) (value []byte, given bool)) (best []byte, votes Votes) {
	votes = count(slots)
	heard := votes.Yes + votes.No
	votes.Yes = 0
	for i := range slots {
		value, given := of(&slots[i])
		if !given || !slots[i].counts() {
			continue
		}
		same := 0
		for j := range slots {
			if other, given := of(&slots[j]); given && slots[j].counts() && bytes.Equal(value, other) {
				same++
			}
		}
		if same > votes.Yes {
			best, votes.Yes = value, same
		}
	}
	votes.No = heard - votes.Yes
	return best, votes
}

// counts says that the node was heard, and that its vote counts.
func (s *slot) counts() bool { return s.heard && s.counted() != Unknown }

// judgeOld is for what is changed and answers the value from before. The verdict waits until it is known
// whether a majority held one value.
func judgeOld(slots []slot) Ruling {
	r := judgeVotes(slots)
	if r.Verdict == Open || r.Verdict == Undecided {
		return r
	}
	value, votes := commonest(slots, func(s *slot) ([]byte, bool) { return s.more().Value, s.more().Value != nil })
	switch v := votes.Verdict(); {
	case v == Granted:
		r.Value = value
	case v == Open:
		r.Verdict = Open
	}
	return r
}

// judgeKeys rules on each key alone: it is decided when all of them are.
func judgeKeys(req *Request, slots []slot) Ruling {
	r := Ruling{Verdict: Granted, Votes: count(slots), Seen: make([]Held, len(req.Keys))}
	for k := range req.Keys {
		value, votes := commonest(slots, func(s *slot) ([]byte, bool) {
			seen := s.more().Seen
			if k >= len(seen) {
				return nil, false
			}
			return seen[k].Value, seen[k].Exists
		})
		switch v := votes.Verdict(); v {
		case Granted:
			r.Seen[k] = Held{Exists: true, Value: value, Left: heldFor(k, value, slots)}
		case Undecided:
			r.Verdict = Undecided
		case Open:
			if r.Verdict == Granted {
				r.Verdict = Open
			}
		}
	}
	return r
}

// heldFor is the time after which fewer than a majority still hold value: the
// majority-th largest of their remaining times. Nodes not heard yet can only make it
// longer, so that it is never a promise too long.
func heldFor(key int, value []byte, slots []slot) int64 {
	var room [32]int64
	times := room[:0]
	for i := range slots {
		s := &slots[i]
		if seen := s.more().Seen; s.counts() && key < len(seen) && seen[key].Exists && bytes.Equal(seen[key].Value, value) {
			times = append(times, seen[key].Left)
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
		if s := &slots[i]; s.heard && s.counted() != Unknown {
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
