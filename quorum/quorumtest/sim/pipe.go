package sim

import (
	"errors"
	"slices"
	"time"

	"redlockd/quorum"
)

// What follows is backend's pipe: what is owed to a node, and when it is told; and how it is connected.

var (
	errDialing = errors.New("not connected yet")
	errSilent  = errors.New("not answering")
	errUntold  = errors.New("not told yet what it is owed")
	errFull    = errors.New("queue full")
)

const (
	maxQueue   = 4096
	maxOwed    = 1024
	retryOwed  = 300 * time.Millisecond
	exactTries = 10
)

type pipe struct {
	*proxy
	node    *machine
	index   int
	current *link // that new requests go to
	link    *link // also while it is silent
	health  quorum.Health
	vouched bool
	owed    []call
	telling bool
	alarm   func() // wakes attend
	nudge   func() // wakes teach
	jumps   int
	jumpAt  time.Duration
	tried   bool // it was dialled once
}

func (p *pipe) send(req *quorum.Request, now time.Duration, r *run, i int) {
	err := errDialing
	if p.current != nil {
		err = p.current.put(call{req: req, run: r, i: i, sent: now}, now)
	}
	if err != nil {
		r.hear(i, quorum.Answer{Trace: quorum.Nothing, At: now, Err: err})
	}
}

func (p *pipe) owe(c call) {
	if c.req == nil || p.current == nil && !p.roomFor(c.req) {
		return
	}
	now := p.clock()
	if now >= c.until && quorum.Planted() != quorum.BugOwedTooLate {
		return
	}
	c.sent = now
	if p.current != nil && p.timely(c) && p.current.put(c, now) == nil {
		return
	}
	p.keep(c)
}

func (p *pipe) timely(c call) bool { return !c.req.Later || p.vouched }

func (p *pipe) keep(c call) {
	if !p.roomFor(c.req) || len(p.owed) >= maxOwed {
		return
	}
	p.owed = append(p.owed, c)
	p.tellLater()
}

func (p *pipe) roomFor(req *quorum.Request) bool {
	return req.Op != quorum.TopUp || len(p.owed) < maxOwed/2
}

func (p *pipe) tellLater() {
	if !p.telling && len(p.owed) > 0 && p.current != nil {
		p.telling = true
		p.later(retryOwed, func() {
			p.telling = false
			if p.current != nil {
				p.sendOwed(p.current)
				p.tellLater()
			}
		})
	}
}

// lose gives up a call of a link that was lost.
func (p *pipe) lose(c call, a quorum.Answer) {
	if c.run != nil && !c.owed {
		c.run.hear(c.i, a)
		return
	}
	p.owe(c)
}

func (p *pipe) retry(c call) {
	if c.req.Op != quorum.TopUp {
		p.keep(c)
	}
}

func (p *pipe) sendOwed(l *link) {
	now := p.clock()
	owed, more := p.owed, true
	p.owed = nil
	for _, c := range owed {
		if now >= c.until && quorum.Planted() != quorum.BugOwedTooLate {
			continue
		}
		if more && p.timely(c) {
			c.sent = now
			if l.put(c, now) == nil {
				continue
			}
			more = false
		}
		p.owed = append(p.owed, c)
	}
}

// enter makes l the link in use. What is owed goes first.
func (p *pipe) enter(l *link) {
	p.sendOwed(l)
	p.link, p.current, p.health = l, l, quorum.Up
	p.noteTrust(l)
	p.tellLater()
}

// hears: the node has spoken on l.
func (p *pipe) hears(l *link) {
	if p.current != l && p.link == l && p.health == quorum.Silent {
		p.enter(l)
	}
}

func (p *pipe) silent(l *link) {
	if p.link == l && p.health == quorum.Up {
		p.current, p.health = nil, quorum.Silent
	}
}

func (p *pipe) leave(l *link) {
	if p.link == l {
		p.link, p.current, p.vouched, p.health = nil, nil, false, quorum.Down
	}
}

// connect keeps the pipe connected.
func (p *pipe) connect(t *task) {
	var old *link
	for failed := 0; ; {
		l := p.dials(t, old)
		p.tried = true
		if l == nil {
			failed++
		} else {
			failed, old = 0, l
			p.enter(l)
			for !l.retired && l.cause == nil {
				t.sleepUntil(time.Hour, &l.gone)
			}
		}
		t.sleep(quorum.Backoff(failed, p.mix.reconnectMin, p.mix.reconnectMax, p.rng.Float64()))
	}
}

// dials is backend's dial: it connects, ends the old connection on the node, and reads the node's mark and clock. nil if that failed.
func (p *pipe) dials(t *task, old *link) *link {
	deadline := p.now + p.mix.dialTimeout
	s := p.dial(p.node)
	if s == nil {
		t.sleep(p.between(0, 5*time.Millisecond))
		return nil
	}
	l := p.acquaint(t, s, old, deadline)
	if l == nil {
		s.close()
		return nil
	}
	s.broken = l.fail
	return l
}

func (p *pipe) acquaint(t *task, s *socket, old *link, deadline time.Duration) *link {
	who, ok := t.ask(s, deadline, "WHO").([]any)
	if !ok {
		return nil
	}
	l := &link{pipe: p, socket: s, runID: text(who[0]), id: int(who[1].(int64))}
	l.watch = quorum.NewWatch(l.runID, nil)
	if old != nil {
		if !p.succeed(t, s, l, old, deadline) {
			return nil
		}
		l.watch = quorum.NewWatch(l.runID, old.watch)
	}
	_, _, inDoubt := l.watch.Jumped()
	enough := p.now + p.mix.dialTimeout/10
	for try, exact := 0, false; try == 0 || try < exactTries && !exact && p.now < enough; try++ {
		sent := p.clock()
		clock := t.ask(s, deadline, "TIME")
		received := p.clock()
		mark := t.ask(s, deadline, "GET", quorum.MarkKey)
		if !s.open || clock == nil {
			return nil
		}
		look := said.Look(clock, mark, quorum.Trust{}, sent, received)
		if _, broken := mark.(error); broken || look.Err != nil {
			return nil
		}
		l.see(look, received)
		exact = look.Clock.Exact()
	}
	l.watch.CheckWall(p.wall(), p.mix.tolerance)
	if inDoubt {
		l.jumped = old.jumped
	} else if _, _, jumped := l.watch.Jumped(); jumped {
		l.jumped = p.clock()
	}
	return l
}

// succeed ends the old connection on the node before the new one is used.
func (p *pipe) succeed(t *task, s *socket, l, old *link, deadline time.Duration) bool {
	if old.runID == l.runID {
		if _, killed := t.ask(s, deadline, "KILL", itoa(old.id)).(int64); !killed {
			return false
		}
		for old.cause == nil && p.now < deadline {
			t.sleepUntil(deadline-p.now, &old.died)
		}
	}
	old.fail(errSilent)
	return true
}

// ask one command on a connection of the task's own, and wait for the reply: an error if there was none in time.
func (t *task) ask(s *socket, deadline time.Duration, words ...string) (reply any) {
	reply = errCut
	if !s.open {
		return reply
	}
	t.park(func(wake func()) {
		s.broken = func(error) { s.open = false; wake() }
		s.send([]order{{words: words}}, func(replies []any, whole bool) {
			if len(replies) > 0 {
				reply = replies[0]
				wake()
			}
		})
		t.later(deadline-t.now, wake)
	})
	if reply == errCut {
		s.close()
	}
	return reply
}

// standing of the node, for the readmission of others.
func (p *pipe) standing() quorum.Standing {
	if p.current == nil {
		return quorum.Unreached
	}
	return p.current.watch.Standing()
}

func (p *proxy) standings() []quorum.Standing {
	all := make([]quorum.Standing, len(p.pipes))
	for i, q := range p.pipes {
		all[i] = q.standing()
	}
	return all
}

// noteTrust keeps whether the node is vouched for, and wakes its teacher.
func (p *pipe) noteTrust(l *link) {
	if _, _, jumped := l.watch.Jumped(); jumped {
		ring(p.alarm)
	}
	if p.vouched = l.watch.Vouched() == nil; p.vouched {
		p.sendOwed(l)
		p.tellLater()
		l.told = true
	}
	ring(p.nudge)
}

// teachable says that enough others are vouched for to teach the node.
func (p *pipe) teachable() bool {
	all := p.standings()
	all[p.index] = quorum.Unreached
	trusted := len(slices.DeleteFunc(all, func(s quorum.Standing) bool { return s != quorum.Trusted }))
	return trusted >= quorum.Teachers(len(p.pipes))
}
