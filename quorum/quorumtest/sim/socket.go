package sim

import (
	"errors"
	"slices"
	"strings"
	"time"

	"redlockd/quorum"
)

// socket is one connection between a redlockd and a node: two queues that keep their order. What is in them may be late, and is
// lost when the connection is cut, or comes too late still.
type socket struct {
	*world
	owner  *process
	life   int // of the owner
	node   *machine
	id     int  // as the node counts
	known  bool // to the node
	open   bool // to its owner
	up     way
	down   way
	queue  []batch // at the node
	busy   bool    // the node is in the middle of the first of them
	broken func(error)
	inbox  []arrival // at the owner, which reads it when it runs
}

// way is one direction.
type way struct {
	free    time.Duration // when what is sent now can arrive at the earliest
	blocked time.Duration // nothing arrives before
	lost    bool          // nothing that has not arrived will
	on      []*batch      // not arrived
}

// arrival is what the owner of a socket has got: replies, of which the last may be missing, or that the connection is lost.
type arrival struct {
	batch *batch
	whole bool
	lost  error
}

// order is one command for a node.
type order struct {
	words []string
	req   *quorum.Request
	run   *run          // the round that it is of, if any
	owed  bool          // it is an amends, see quorum.Amend
	born  time.Duration // owed: since then, in true time
	sent  time.Duration // true time
	until time.Duration // owed: the clock of the sender's process must not have reached that
	at    time.Duration // the sender's clock when it was queued
}

func (o order) what() string {
	if o.req != nil {
		text := o.req.Op.String() + " " + string(o.req.Key) + " " + string(o.req.Token)
		if o.owed {
			text += " (owed)"
		}
		if o.run != nil {
			text += " (round " + itoa(o.run.id) + ")"
		}
		return text
	}
	if o.words[0] == "EVAL" {
		for name, is := range scriptNames {
			if strings.HasPrefix(o.words[1], is) {
				return name
			}
		}
	}
	return strings.Join(o.words, " ")
}

// batch is what is written in one flush, and what is answered to it.
type batch struct {
	orders   []order
	replies  []any
	inPieces bool
	done     func(replies []any, whole bool)
}

var errRefused, errCut = errors.New("connection refused"), errors.New("connection lost")

// dial the node. The socket is nil if nobody answers there.
func (p *process) dial(m *machine) *socket {
	if !m.up || m.cutOff[p] {
		return nil
	}
	s := &socket{world: p.world, owner: p, life: p.life, node: m, known: true, open: true}
	m.sockets = append(m.sockets, s)
	return s
}

// send a flush. done is called with its replies; with too few when the connection was lost in the middle of them, and
// not at all when there were none.
func (s *socket) send(orders []order, done func(replies []any, whole bool)) {
	if !s.open {
		return
	}
	for i := range orders {
		orders[i].sent = s.now
	}
	s.carry(&s.up, &batch{orders: orders, done: done}, func(b *batch) { s.node.arrive(s, *b) })
}

// answer what the node has carried out.
func (s *socket) answer(b batch) {
	s.carry(&s.down, &b, s.arrived)
}

func (s *socket) arrived(b *batch) { s.gets(arrival{batch: b, whole: true}) }

// gets it, in order, however long the owner stands still.
func (s *socket) gets(a arrival) {
	s.inbox = append(s.inbox, a)
	s.owner.run(s.life, func() {
		a := s.inbox[0]
		s.inbox = s.inbox[1:]
		switch {
		case !s.open:
		case a.lost == nil:
			a.batch.done(a.batch.replies, a.whole)
		case s.broken != nil:
			s.broken(a.lost)
		}
	})
}

// carry a batch to the other end, behind those before it.
func (s *socket) carry(w *way, b *batch, arrived func(*batch)) {
	if w.lost {
		return
	}
	w.free = max(w.free, w.blocked, s.now+s.delay())
	w.on = append(w.on, b)
	s.after(w.free-s.now, func() {
		if len(w.on) == 0 || w.on[0] != b {
			return // it was lost
		}
		w.on = w.on[1:]
		arrived(b)
	})
}

func (s *socket) delay() time.Duration {
	d := s.mix.latency + s.about(s.mix.jitter)
	if s.node.slow > 0 {
		d += s.about(s.node.slow)
	}
	if s.faulty() && s.maybe(s.mix.spikes) {
		d += s.about(s.mix.spike)
	}
	return d
}

// block one direction, or both, for d: what is sent meanwhile comes then, in its order.
func (s *socket) block(w *way, d time.Duration) {
	w.blocked = max(w.blocked, s.now+d)
	if len(w.on) == 0 {
		return
	}
	// What is on its way already is held up, too.
	held := w.on
	w.on = nil
	w.free = w.blocked
	arrived := func(b *batch) { s.node.arrive(s, *b) }
	if w == &s.down {
		arrived = s.arrived
	}
	for _, b := range held {
		again := *b
		s.carry(w, &again, arrived)
	}
}

// cut the connection in the middle, with answers outstanding. What is on its way to the node is lost, or arrives all the
// same; of what is on its way back a part may arrive.
func (s *socket) cut() {
	if s.up.lost && s.down.lost {
		return
	}
	if s.maybe(0.5) {
		s.lose(&s.up)
	}
	if len(s.down.on) > 0 && s.maybe(0.3) {
		b := *s.down.on[0]
		b.replies = b.replies[:s.rng.IntN(len(b.replies)+1)]
		if len(b.replies) > 0 {
			s.gets(arrival{batch: &b})
		}
	}
	s.lose(&s.down)
	s.up.blocked = 0
	s.ended(errCut)
	s.after(s.between(0, 50*time.Millisecond), func() { s.lose(&s.up); s.forgotten() })
}

func (s *socket) lose(w *way) {
	w.lost, w.on = true, nil
}

// forgotten: the node has closed the connection, or is gone. What it has answered may still arrive, and what it has not read is
// never carried out.
func (s *socket) forgotten() {
	if !s.known {
		return
	}
	s.known = false
	s.queue = nil
	s.node.sockets = slices.DeleteFunc(s.node.sockets, func(o *socket) bool { return o == s })
	if s.maybe(0.3) {
		s.lose(&s.down)
	}
	wait := max(0, s.down.free-s.now)
	if len(s.down.on) == 0 {
		wait = s.delay()
	}
	s.after(wait, func() { s.ended(errCut) })
}

// ended tells the owner.
func (s *socket) ended(why error) { s.gets(arrival{lost: why}) }

// close it on the owner's side. What is on its way to the node is still carried out.
func (s *socket) close() {
	s.open = false
	s.lose(&s.down)
	s.after(max(0, s.up.free-s.now)+s.delay(), s.forgotten)
}

// since when it has been on its way, in true time.
func (o order) since() time.Duration {
	if o.owed {
		return o.born
	}
	return o.sent
}
