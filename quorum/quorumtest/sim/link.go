package sim

import (
	"fmt"
	"time"

	"redlockd/quorum"
)

// What follows is backend's link without its goroutines: the same methods in the same order. What is decided, quorum decides.

// call is one request on one connection.
type call struct {
	req   *quorum.Request
	words []string      // in place of req
	done  func(any)     // of words
	run   *run          // who waits, or, owed, whose amends it is
	i     int           // who we are to run
	sent  time.Duration // our clock
	until time.Duration // owed: not to be told after
	owed  bool
	born  time.Duration // owed: since then, in true time
}

type flight struct {
	calls int
	trust quorum.Trust
	sent  time.Duration
}

const maxFlight = 256

type link struct {
	*pipe
	socket  *socket
	runID   string
	id      int
	calls   []call
	flying  int
	voted   int
	writes  bool
	heard   time.Duration
	armed   bool
	timer   int // which arming this is
	due     time.Duration
	excused bool
	retired bool
	cause   error
	watch   *quorum.Watch
	told    bool
	jumped  time.Duration
	settles bool
	gone    func() // wakes connect
	died    func() // wakes who waits for its end
}

// put a call into the queue, or say why not.
func (l *link) put(c call, now time.Duration) error {
	switch {
	case l.cause != nil:
		return l.cause
	case l.retired:
		return errSilent
	case len(l.calls) >= maxQueue:
		return errFull
	}
	if c.run != nil && !c.owed && !c.req.Op.ForAll() {
		if err := l.watch.Vouched(); err != nil {
			return err // P2
		}
		if !l.told && quorum.Planted() != quorum.BugVotesAtOnce && quorum.Planted() != quorum.BugNotKnownBefore {
			return errUntold
		}
	}
	if len(l.calls) == 0 {
		l.heard = now
	}
	if due := now + l.mix.patience.Timeout; !l.armed || l.due > due {
		l.arm(now, due-now)
	}
	l.calls = append(l.calls, c)
	if !l.writes {
		l.writes = true
		wait := l.between(0, 30*time.Microsecond)
		if l.faulty() && l.maybe(l.mix.lateWriters) {
			wait = l.about(l.mix.lateWriter)
		}
		l.later(wait, l.write)
	}
	return nil
}

func (l *link) arm(now, wait time.Duration) {
	wait = max(wait, time.Millisecond)
	l.armed, l.due = true, now+wait
	l.timer++
	timer := l.timer
	l.later(wait, func() {
		if timer == l.timer {
			l.expire()
		}
	})
}

func (l *link) write() {
	l.writes = false
	for l.cause == nil && l.flying < len(l.calls) {
		trust := l.watch.Trust()
		n := min(len(l.calls)-l.flying, maxFlight)
		l.depart(l.calls[l.flying:l.flying+n], trust)
		l.flying += n
	}
}

func (l *link) depart(calls []call, trust quorum.Trust) {
	now := l.clock()
	var orders []order
	for _, c := range calls {
		o := order{words: c.words, req: c.req, run: c.run, owed: c.owed, until: c.until, at: c.sent, born: c.born}
		if c.req != nil {
			o.words = said.Request(c.req, now)
		}
		orders = append(orders, o)
	}
	f := flight{len(calls), trust, now}
	head := quorum.Planted() == quorum.BugHeadOfFlush
	tail := []order{{words: []string{"TIME"}}, {words: []string{"GET", quorum.MarkKey}}}
	if head {
		orders = append(tail, orders...)
	} else {
		orders = append(orders, tail...)
	}
	l.socket.send(orders, func(replies []any, whole bool) {
		if head && len(replies) >= 2 {
			replies = append(replies[2:len(replies):len(replies)], replies[:2]...)
		}
		l.land(replies, f, whole)
	})
}

// land hands out the replies to the oldest calls.
func (l *link) land(replies []any, f flight, whole bool) {
	now := l.clock()
	n := min(len(replies), f.calls)
	look := quorum.Look{Trust: f.trust, Err: errCut}
	if whole {
		look = said.Look(replies[f.calls], replies[f.calls+1], f.trust, f.sent, now)
	}
	if l.cause != nil {
		return
	}
	doubt, changed := l.see(look, now)
	landed := append([]call(nil), l.calls[:n]...)
	l.calls = l.calls[n:]
	l.flying -= n
	l.voted = max(0, l.voted-n)
	l.heard = now
	if !l.retired {
		l.hears(l)
	}
	if changed && l.pipe.link == l {
		l.noteTrust(l)
	}
	for k, c := range landed {
		l.reply(c, replies[k], look, doubt, now)
	}
	if l.retired && len(l.calls) == 0 {
		l.fail(errSilent)
	}
}

func (l *link) see(look quorum.Look, now time.Duration) (doubt error, changed bool) {
	was := l.watch.Vouched()
	doubt = l.watch.See(look)
	changed = was != l.watch.Vouched()
	l.told = l.told && !changed
	if _, _, jumped := l.watch.Jumped(); jumped && changed {
		l.jumped = now
	}
	if changed && l.tracing() {
		l.say(l.name, "finds node %d vouched for: %v (%v)", l.index, l.watch.Vouched() == nil, l.watch.Vouched())
	}
	return doubt, changed
}

func (l *link) reply(c call, value any, look quorum.Look, doubt error, now time.Duration) {
	failed, _ := value.(error)
	switch {
	case c.req == nil:
		if c.done != nil {
			c.done(value)
		}
	case c.owed:
		if failed != nil {
			l.retry(c)
		}
	default:
		c.run.hear(c.i, said.Answer(c.req, value, failed, look, doubt, now))
	}
}

// expire runs when the oldest vote is due, and when the node has been silent for too long.
func (l *link) expire() {
	now := l.clock()
	patience := l.mix.patience
	var late []call
	l.armed = false
	if len(l.calls) == 0 || l.cause != nil {
		return
	}
	if more := patience.Excuse(now - l.due); more > 0 && !l.excused {
		l.excused = true
		l.arm(now, more)
		return
	}
	l.excused = false
	asked := l.flying
	if asked == 0 {
		l.heard = now
	}
	if l.voted < asked && patience.Due(l.calls[l.voted].sent, l.heard) <= now && len(l.socket.inbox) > 0 {
		l.heard = now
	}
	for l.voted < asked && patience.Due(l.calls[l.voted].sent, l.heard) <= now {
		late = append(late, l.calls[l.voted])
		l.voted++
	}
	health := patience.Judge(now - l.heard)
	next := l.heard + patience.Silence
	if health == quorum.Up {
		next = min(next, l.heard+patience.Quiet())
	}
	if l.voted < asked {
		next = min(next, patience.Due(l.calls[l.voted].sent, l.heard))
	} else if l.voted < len(l.calls) {
		next = min(next, now+patience.Timeout)
	}
	if !l.retired || l.voted < len(l.calls) {
		l.arm(now, next-now)
	}
	switch {
	case l.retired || health == quorum.Up:
	case health == quorum.Silent:
		l.silent(l)
	case health == quorum.Down:
		l.leave(l)
		l.retire()
	}
	for _, c := range late {
		if c.run != nil && !c.owed {
			c.run.hear(c.i, quorum.Answer{Trace: quorum.Awaited, At: now, Err: fmt.Errorf("no answer within %v", now-c.sent)})
		}
	}
}

// retire takes the link out of use; the answers to what was written are still waited for.
func (l *link) retire() {
	if l.retired || l.cause != nil {
		return
	}
	l.retired = true
	unsent := append([]call(nil), l.calls[l.flying:]...)
	l.calls = l.calls[:l.flying]
	l.voted = min(l.voted, l.flying)
	ring(l.gone)
	for _, c := range unsent {
		l.lose(c, quorum.Answer{Trace: quorum.Nothing, At: l.clock(), Err: errSilent})
	}
	if l.flying == 0 {
		l.fail(errSilent)
	}
}

// fail ends the link: what it has not answered is lost, or was never sent.
func (l *link) fail(cause error) {
	if l.cause != nil {
		return
	}
	l.cause = cause
	lost, calls, retired := l.flying, l.calls, l.retired
	l.calls, l.flying, l.voted = nil, 0, 0
	l.timer++
	l.socket.close()
	l.leave(l)
	if !retired {
		ring(l.gone)
	}
	ring(l.died)
	for k, c := range calls {
		a := quorum.Answer{Trace: quorum.Nothing, At: l.clock(), Err: cause}
		if k < lost {
			a.Trace = quorum.Lost
		}
		l.lose(c, a)
	}
}

func ring(bell func()) {
	if bell != nil {
		bell()
	}
}
