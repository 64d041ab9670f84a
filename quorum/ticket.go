package quorum

import (
	"sync"
	"time"
)

// Ticket is what the asker holds while its request is on its way. Its methods are for
// one goroutine: Start, Wait, then Confirm, then perhaps GiveBack, then Free.
type Ticket struct {
	Request Request // what is asked, to be filled in before Start

	fleet *Fleet
	run   *run
	// first is what run points to, until a split vote is tried again. It stands here, with room for all that a round
	// of an ordinary fleet is about, so that a round is one piece of memory.
	first run
	slots [ordinaryFleet]slot
	wire  [ordinaryWire]byte
}

const (
	ordinaryFleet = 7   // nodes
	ordinaryWire  = 128 // bytes of a request: a take with a key of 30 and a token of 36 bytes has 115
)

// run is one round on its way. It is a Voter of all nodes.
type run struct {
	fleet  *Fleet
	ticket *Ticket        // whose memory this is; nil if it stands for itself
	done   sync.WaitGroup // until there is a verdict

	mu    sync.Mutex // guards what follows
	round Round
	// turn counts how often this memory was used. What the nodes hear of us contains it, so that a node that speaks to a round
	// that is over is never heard by the one that has its memory now.
	turn  int
	owing int  // nodes whose last word was not heard
	free  bool // the asker has done with it
}

// seats is more than the nodes of any fleet.
const seats = 64

// seat is what a node is told to call itself when it speaks to this round.
func (r *run) seat(node int) int { return r.turn*seats + node }

// NewTicket for a request, in the room that was reserved.
func (f *Fleet) NewTicket() *Ticket {
	if t, ok := f.tickets.Get().(*Ticket); ok {
		return t
	}
	t := &Ticket{fleet: f}
	t.first.fleet, t.first.ticket = f, t
	return t
}

// Start carries the request to every node, and does not wait. The nodes get it with the
// next Flush or Wait. now is our clock, read by the caller: T1, before the first byte is sent (R10). The rounds of
// one batch may share it: it makes a round count as longer than it was, never shorter.
func (t *Ticket) Start(now time.Duration) {
	t.Request.Wire = t.wire[:0]
	t.fleet.encode(&t.Request)
	if len(t.fleet.nodes) <= len(t.slots) {
		t.first.round.slots = t.slots[:len(t.fleet.nodes)]
	}
	t.run = &t.first
	t.fleet.carry(t.run, &t.Request, now)
}

// Hear implements Voter.
func (r *run) Hear(seat int, a Answer) {
	r.mu.Lock()
	if seat/seats != r.turn {
		r.mu.Unlock()
		return // a time-out that was overtaken by the answer itself, and by the end of the round
	}
	open := r.round.ruling.Verdict == Open
	s := &r.round.slots[seat%seats]
	owed := s.owed()
	amends := r.round.Hear(seat%seats, a)
	if owed && !s.owed() {
		r.owing--
	}
	decided := open && r.round.ruling.Verdict != Open
	over := r.over()
	r.mu.Unlock()
	// From here on the round may be over, and its memory another's, unless we are who has decided it: its asker waits for us.
	r.fleet.amend(amends)
	if decided {
		r.fleet.room.give(1)
		r.done.Done()
	}
	if over {
		r.ticket.recycle()
	}
}

// owed says that the node will speak, or speak once more.
func (s *slot) owed() bool { return !s.heard || s.Vote == Unknown && s.Trace == Awaited }

// Free says that the asker has done with the ticket: it must not be used any more, not even to give it back. It need
// not be called.
func (t *Ticket) Free() {
	if t.run != &t.first {
		return // the first try may still be on its way, and a second has the same request
	}
	r := t.run
	r.mu.Lock()
	r.free = true
	over := r.over()
	r.mu.Unlock()
	if over {
		t.recycle()
	}
}

// over says, with mu held, that the asker has done with the memory, and so have all nodes. It says so once: the turn is over with it, so
// that a time-out that was overtaken, and comes before the memory is used again, does not give it to a second asker.
func (r *run) over() bool {
	if r.owing > 0 || !r.free {
		return false
	}
	r.turn++
	r.free, r.round = false, Round{}
	return true
}

// recycle the memory of a round that is over. What was amended has requests of its own.
func (t *Ticket) recycle() {
	t.Request, t.run, t.slots = Request{}, nil, [ordinaryFleet]slot{}
	t.fleet.tickets.Put(t)
}

func (r *run) wait() Ruling {
	r.done.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.round.ruling
}

// Wait for the verdict. Every node that has not answered when it is due is counted as unknown. A
// take whose vote was split is tried again, a few times, if it is the last of what its client has asked
// for so far: tried again later, it would overtake what the client has sent behind it.
func (t *Ticket) Wait(last bool) {
	for try := 0; ; try++ {
		t.fleet.Flush()
		ruling := t.run.wait()
		if !last || try == t.fleet.rules.SplitRetries || !t.split(ruling) {
			return
		}
		t.fleet.stats.splits.Add(1)
		time.Sleep(Jitter(t.fleet.rules.SplitDelay, t.fleet.chance())) // R18
		again := &run{fleet: t.fleet}
		t.fleet.Reserve(1)
		t.fleet.carry(again, t.run.round.req, t.fleet.clock())
		t.run = again
	}
}

// Await the verdict, and do nothing about it: of many, whoever awaits the last first sleeps once.
func (t *Ticket) Await() {
	t.fleet.Flush()
	t.run.done.Wait()
}

// Denied says, after Wait, whether a majority answered and said no.
func (t *Ticket) Denied() bool { return t.run.wait().Verdict == Denied }

// split asks, after a take that some nodes accepted and too few, whether anybody has
// the lock. Our own acceptances were taken back on the same pipes before the question. A denial that came
// before any yes was heard is not looked into: that is what polling for a held lock looks like, and
// it must stay cheap.
func (t *Ticket) split(r Ruling) bool {
	req := t.run.round.req
	if req.Op != Take || req.Fixed || !r.Votes.Split() {
		return false
	}
	keys := req.Keys
	if len(keys) == 0 {
		keys = [][]byte{req.Key}
	}
	for _, key := range keys {
		t.fleet.Reserve(1)
		who := t.fleet.NewTicket()
		who.Request = Request{Op: Get, Key: key}
		who.Start(t.fleet.clock())
		t.fleet.Flush()
		holder := who.run.wait()
		who.Free()
		if holder.Verdict == Granted || holder.Votes.Yes+holder.Votes.No < Majority(len(t.fleet.nodes)) {
			return false
		}
	}
	return true // a majority has answered, and nobody is known to hold a majority
}

// Confirm is the last word, at now on our clock: to be read just before the reply is
// written (T2, R14). The error is not nil if and only if the verdict is Undecided.
func (t *Ticket) Confirm(now time.Duration) (Ruling, *NoQuorum) {
	t.run.mu.Lock()
	granted := t.run.round.ruling.Verdict == Granted
	ruling, amends := t.run.round.Confirm(now, t.fleet.rules.RoundLimit)
	var err *NoQuorum
	if ruling.Verdict == Undecided {
		err = t.run.round.explain(t.fleet.names)
	}
	t.run.mu.Unlock()
	t.fleet.amend(amends)

	s := &t.fleet.stats
	switch {
	case ruling.Verdict == Granted:
		s.granted.Add(1)
	case ruling.Verdict == Denied:
		s.denied.Add(1)
	default:
		s.undecided.Add(1)
	}
	if err != nil && granted {
		s.late.Add(1)
		req := t.run.round.req
		err.Late, err.Spent = true, now-t.run.round.began
		err.Limit = max(0, min(t.fleet.rules.RoundLimit, Validity(req.TTL, req.Life, 0), req.TTL))
	}
	return ruling, err
}

// GiveBack undoes a confirmed take whose client could not be told.
func (t *Ticket) GiveBack() {
	t.run.mu.Lock()
	amends := t.run.round.Refuse(t.fleet.clock())
	t.run.mu.Unlock()
	t.fleet.amend(amends)
}
