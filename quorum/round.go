package quorum

import (
	"errors"
	"time"
)

// Round is the state of one command on its way to all nodes: who said what, what
// the verdict is, and what must still be put right on which node. It is pure; Fleet keeps
// one goroutine at a time in it.
type Round struct {
	req    *Request
	began  time.Duration // T1: our clock before the first byte was sent (R10)
	maxTTL time.Duration
	slots  []slot // by node
	votes  Votes  // Invariant: what count says of slots

	// ruling stands once its verdict is not Open: later answers do not change it.
	ruling Ruling
	// unwanted: what the nodes accepted is to be taken back.
	unwanted bool
	// confirmed: the client is about to be told of the grant, so that the other nodes may get it too.
	confirmed bool
}

// slot is what a round knows of one node. Every vote of every round touches one: what most answers have fits into a cache line.
type slot struct {
	Vote    Vote
	Trace   Trace
	doubted bool
	heard   bool
	amended bool // a TakeBack or a repeated Release was asked for
	topped  bool // a TopUp was asked for

	Number, Left, Stamp int64
	Spread, At          time.Duration

	rest *Answer // all of it, if there is more: a doubt, an error, values
}

// hear keeps the answer.
func (s *slot) hear(a *Answer) {
	s.heard, s.Vote, s.Trace, s.doubted = true, a.Vote, a.Trace, a.Doubt != nil
	s.Number, s.Left, s.Stamp, s.Spread, s.At = a.Number, a.Left, a.Stamp, a.Spread, a.At
	s.rest = nil
	if a.Doubt != nil || a.Err != nil || a.Value != nil || a.Seen != nil {
		rest := *a
		s.rest = &rest
	}
}

// counted is the vote as the verdict sees it: Answer.Counted.
func (s *slot) counted() Vote {
	if s.doubted {
		return Unknown
	}
	return s.Vote
}

// none is the rest of most answers.
var none Answer

// more is what else was answered: Doubt, Err, Value, Seen. It is not to be changed.
func (s *slot) more() *Answer {
	if s.rest == nil {
		return &none
	}
	return s.rest
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
	var r Round
	r.begin(req, n, began, maxTTL)
	return r
}

// begin is NewRound in the room that the round may have for its slots.
func (r *Round) begin(req *Request, n int, began, maxTTL time.Duration) {
	r.req, r.began, r.maxTTL = req, began, maxTTL
	if r.slots == nil {
		r.slots = make([]slot, n)
	}
	r.votes = Votes{Open: n}
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
		a.Err = s.more().Err // why it came too late for the verdict
	}
	*r.votes.of(s)--
	s.hear(&a)
	*r.votes.of(s)++
	if r.ruling.Verdict == Open && (r.votes.Verdict() != Open || !r.req.byVotes()) {
		r.ruling = judge(r.req, r.slots)
		if r.ruling.Verdict == Denied || r.ruling.Verdict == Undecided {
			r.unwanted = true // R17
		}
	}
	return r.amends(a.At)
}

// Confirm judges a grant that promises time once more, just before the client is
// told of it, at now on our clock (T2, R14). Too late, it becomes undecided and is taken back.
func (r *Round) Confirm(now, limit time.Duration) (Ruling, []Amend) {
	if r.ruling.Verdict != Granted || !r.req.Op.Promises() {
		return r.ruling, nil
	}
	if InTime(r.req.TTL, r.req.Life, limit, now-r.began) { // P3
		r.confirmed = r.req.Op == Take || r.req.Op == Extend && !r.req.Add
		return r.ruling, r.amends(now)
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
	if r.ruling.Verdict == Open || !r.unwanted && !r.confirmed && r.req.Op != Release {
		return nil
	}
	if r.confirmed && !r.unwanted && r.votes.Unknown == 0 && r.req.Op == Take {
		return nil // quickly: this is every round while all is well, see topUp
	}
	var list []Amend
	for i := range r.slots {
		s := &r.slots[i]
		if !s.heard || s.amended {
			continue
		}
		amend, due := r.amend(i)
		if due && now < amend.Until {
			if amend.Req.Op == TopUp {
				s.topped = true
			} else {
				s.amended = true
			}
			list = append(list, amend)
		}
	}
	return list
}

func (r *Round) amend(node int) (Amend, bool) {
	switch {
	case r.req.Op == Release:
		return r.repeatRelease(node)
	case r.unwanted && r.req.Op == Take:
		return r.takeBack(node)
	case r.unwanted:
		// What an overwrite, an extend or a delete replaced is gone: nothing to go back to.
		return Amend{}, false
	default:
		return r.topUp(node)
	}
}

// topUp gives a confirmed grant to a node that lacks it: one that was not asked, refused, or broke the connection;
// and, for an extend, one that said that it has not got the key. It is more than a bare majority then, and
// survives more. It is the grant that makes it safe: a majority of nodes whose yes counts has just confirmed that the lock is
// this token's, and until it ends nobody else can be granted it. (A node that still owes its answer will
// carry out the request itself.)
func (r *Round) topUp(node int) (Amend, bool) {
	s := &r.slots[node]
	absent := s.Vote == Unknown && s.Trace != Awaited || r.req.Op == Extend && s.Vote == No && s.Number == Missing
	if !absent || s.topped {
		return Amend{}, false
	}
	rest := r.amending(TopUp)
	rest.Life, rest.SetBy = r.req.Life, r.began
	return Amend{Node: node, Req: rest, Until: r.began + r.req.Life}, true
}

// amending is a request about the same keys and tokens.
func (r *Round) amending(op Op) *Request {
	return &Request{Op: op, Key: r.req.Key, Token: r.req.Token, Keys: r.req.Keys, Tokens: r.req.Tokens}
}

// takeBack undoes a take on one node: what this attempt got there, and nothing else.
//
// Tokens are not always unique in the wild, so that "the value is my token" proves
// nothing. The proof is when the key expires. The node said yes, so that our SET was carried out at
// some moment e before the answer was read, and made the key expire at e + life; until the answer was read
// our key was there, and whoever took the key after that, for as long or longer, made it expire later. Who took it for less time did
// not: so the node's clock, which was read behind the SET, says when it expires at the earliest (Stamp and Spread).
//
// A take that may find its token (Own) needs more: the same token may take the key again, with the same life, before our answer is
// read. There the node itself tells the instant at which what it has set anew expires (Stamp), and moves that of a key which is taken
// again, so that no other attempt ever gives a key the same one. A key that was taken again is never deleted: the token has held it before.
//
// What is left alone, to end with its ttl:
//   - a yes that is heard so late that our key may have expired, and been taken, before;
//   - a take whose answer was lost with the connection. Whether it was carried out, and when, is not known
//     well enough: with one token for all, what another proxy took meanwhile looks the same. (We
//     deviate from the first design, which guessed from the remaining time);
//   - what a node was topped up with: when that was carried out is not known either.
func (r *Round) takeBack(node int) (Amend, bool) {
	a := &r.slots[node]
	if a.Vote != Yes && r.taught(node) {
		return r.takeBackLater(node)
	}
	if a.Vote != Yes { // one that does not count has set the key all the same
		return Amend{}, false
	}
	if a.At-r.began >= r.req.Life-Drift(r.req.Life) {
		return Amend{}, false
	}
	back := r.amending(TakeBack)
	back.Life, back.SetBy, back.Stamp, back.Spread = r.req.Life, a.At, a.Stamp, a.Spread
	return Amend{Node: node, Req: back, Until: r.began + r.req.Life}, true
}

// taught says that the node was not vouched for, so that it may be given, by a lesson, what others held a moment
// before they were told to delete it.
func (r *Round) taught(node int) bool {
	a := r.slots[node].more()
	if a.Doubt == nil && a.Err == nil {
		return false // quickly: this is every round
	}
	var reason NotVouched
	return errors.As(a.Doubt, &reason) || errors.As(a.Err, &reason)
}

// takeBackLater undoes on a node that is being taught what it may copy from one that has accepted. The copy expires
// when the original would have, or a moment later.
func (r *Round) takeBackLater(node int) (Amend, bool) {
	if r.req.Own != OwnRefused {
		return Amend{}, false // a copy has no stamp: it is left to its ttl
	}
	var latest time.Duration
	for i := range r.slots {
		if s := &r.slots[i]; s.heard && s.Vote == Yes && s.At-r.began < r.req.Life-Drift(r.req.Life) {
			latest = max(latest, s.At)
		}
	}
	if latest == 0 {
		return Amend{}, false
	}
	back := r.amending(TakeBack)
	back.Life, back.SetBy, back.Later = r.req.Life+spread, latest, true
	return Amend{Node: node, Req: back, Until: r.began + r.req.Life}, true
}

// repeatRelease tells a release again to a node that may not have got it (R19), until the lock has expired by
// itself. When that is was said by the nodes that released it; it also tells the lock from one that was
// taken with the same token since, which expires later. Where none has said it, the token alone must do. A node that is being taught
// is told when that is over, whatever it has said: it may have been given the lock after it had released it.
func (r *Round) repeatRelease(node int) (Amend, bool) {
	a, later := &r.slots[node], r.taught(node)
	if a.Vote != Unknown && !later || a.Trace == Awaited || r.ruling.Verdict == Denied {
		return Amend{}, false
	}
	left, by := r.lockLeft()
	if left == 0 {
		again := r.amending(Release)
		again.Each, again.Later = true, later // on this node, whatever it has of them
		return Amend{Node: node, Req: again, Until: r.began + Pad(r.maxTTL)}, true
	}
	again := r.amending(TakeBack)
	again.Life, again.SetBy, again.Later = left+spread, by, later
	return Amend{Node: node, Req: again, Until: by + left}, true
}

// spread is how much later than on the others a lock may have been set on one node, for a repeated
// release to find it.
const spread = 10 * time.Millisecond

// lockLeft is the longest remaining time of the lock that a node has told when it released it, and our clock
// when that was read; zero if none has.
func (r *Round) lockLeft() (left, by time.Duration) {
	for i := range r.slots {
		s := &r.slots[i]
		if !s.heard || s.Vote != Yes {
			continue
		}
		ms := min(s.Left, Pad(r.maxTTL).Milliseconds())
		if d := time.Duration(ms) * time.Millisecond; d > left {
			left, by = d, s.At
		}
	}
	return left, by
}
