package quorum

import "time"

// Round is the state of one command on its way to all nodes: who said what, what
// the verdict is, and what must still be put right on which node. It is pure; Fleet keeps
// one goroutine at a time in it.
type Round struct {
	req    *Request
	began  time.Duration // T1: our clock before the first byte was sent (R10)
	maxTTL time.Duration
	slots  []slot // by node

	// ruling stands once its verdict is not Open: later answers do not change it.
	ruling Ruling
	// unwanted: what the nodes accepted is to be taken back.
	unwanted bool
}

// slot is what a round knows of one node.
type slot struct {
	Answer
	heard   bool
	amended bool // a TakeBack or a repeated Release was asked for
}

// Amend is something that a node still has to be told, after the round or beside it.
type Amend struct {
	Node int
	Req  *Request
	// Until is the instant, on our clock, after which it must not be told any more.
	Until time.Duration
}

// NewRound begins a round over n nodes at began, our clock before the first byte
// is sent. No lock lives longer than maxTTL.
func NewRound(req *Request, n int, began, maxTTL time.Duration) Round {
	return Round{req: req, began: began, maxTTL: maxTTL, slots: make([]slot, n)}
}

// Hear takes the answer of a node, and says what must be put right as a consequence.
// A node may be heard twice, the second time with an answer that came late
// or can no longer come; after the verdict that changes nothing but the undo.
func (r *Round) Hear(node int, a Answer) []Amend {
	s := &r.slots[node]
	if s.heard && s.Trace != Awaited {
		return nil // a time-out that was overtaken by the answer itself
	}
	if s.heard && a.Err == nil {
		a.Err = s.Err // why it came too late for the verdict
	}
	s.heard, s.Answer = true, a
	if r.ruling.Verdict == Open {
		r.ruling = judge(r.req, r.slots)
		if r.ruling.Verdict == Denied || r.ruling.Verdict == Undecided {
			r.unwanted = true // R17
		}
	}
	return r.amends(a.At)
}

// Ruling is the verdict so far.
func (r *Round) Ruling() Ruling { return r.ruling }

// Confirm judges a grant that promises time once more, just before the client is
// told of it, at now on our clock (T2, R14). Too late, it becomes undecided and is taken back.
func (r *Round) Confirm(now, limit time.Duration) (Ruling, []Amend) {
	if r.ruling.Verdict != Granted || !r.req.Op.Promises() ||
		InTime(r.req.TTL, r.req.Life, limit, now-r.began) {
		return r.ruling, nil
	}
	r.ruling.Verdict = Undecided
	return r.ruling, r.Refuse(now)
}

// Refuse gives back whatever the nodes have accepted or will accept: the grant
// came too late, or its client is gone.
func (r *Round) Refuse(now time.Duration) []Amend {
	r.unwanted = true
	return r.amends(now)
}

// amends lists what the nodes must be told now, each of them once.
func (r *Round) amends(now time.Duration) []Amend {
	if r.ruling.Verdict == Open || !r.unwanted && r.req.Op != Release {
		return nil
	}
	var list []Amend
	for i := range r.slots {
		s := &r.slots[i]
		if !s.heard || s.amended {
			continue
		}
		amend, due := r.amend(i)
		if due && now < amend.Until {
			s.amended = true
			list = append(list, amend)
		}
	}
	return list
}

func (r *Round) amend(node int) (Amend, bool) {
	switch r.req.Op {
	case Take:
		return r.takeBack(node)
	case Release:
		return r.repeatRelease(node)
	default:
		// What an overwrite, an extend or a delete replaced is gone: nothing to go back to.
		return Amend{}, false
	}
}

// takeBack undoes a take on one node: what this attempt got there, and nothing else.
//
// Tokens are not always unique in the wild, so that "the value is my token" proves
// nothing. The proof is when the key expires. Our SET was carried out at some moment e
// and gave the key a life, so that it expires at e + life:
//   - the node said yes: e is before the moment the answer was read. Whoever took
//     the key after that made it expire later.
//   - the answer was lost with the connection: e is before it broke, and after
//     the node was last heard before. An acceptance that was counted for another
//     attempt had been heard, so that it is never in that window. What was carried
//     out later from the node's buffer is outside of it too: left to its ttl.
//
// And nothing is taken back once the attempt's own life is over: by then the same
// token may be the next holder's.
func (r *Round) takeBack(node int) (Amend, bool) {
	a := r.slots[node].Answer
	lost := a.Vote == Unknown && a.Trace == Lost
	if a.Vote != Yes && !lost { // a yes that does not count has set the key all the same
		return Amend{}, false
	}
	back := &Request{
		Op: TakeBack, Key: r.req.Key, Token: r.req.Token, Life: r.req.Life,
		SetFrom: max(r.began, a.Since), SetTo: a.At, Guess: lost,
	}
	return Amend{Node: node, Req: back, Until: a.At + r.req.Life}, true
}

// repeatRelease tells a release again to a node that may not have got it (R19), until
// the lock has expired by itself: when that is was said by the nodes that released it.
func (r *Round) repeatRelease(node int) (Amend, bool) {
	a := r.slots[node].Answer
	if a.Vote != Unknown || a.Trace == Awaited || r.ruling.Verdict == Denied {
		return Amend{}, false
	}
	return Amend{Node: node, Req: r.req, Until: r.lockEnds()}, true
}

func (r *Round) lockEnds() time.Duration {
	bound := Pad(r.maxTTL)
	longest := int64(-1)
	for i := range r.slots {
		if s := &r.slots[i]; s.heard && s.Vote == Yes {
			longest = max(longest, s.Number)
		}
	}
	if longest < 0 || longest > bound.Milliseconds() {
		return r.began + bound
	}
	return r.began + time.Duration(longest)*time.Millisecond
}
