package backend

import (
	"fmt"
	"time"

	"redlockd/quorum"
)

// reply is what came back for a call.
type reply struct {
	value any
	err   error // a redis.Error
}

// read is the reader. It always waits for a reply, also while none is due, so that a connection
// that is lost while it is idle is noticed before it is needed; and without a deadline: how
// long a node is waited for is decided by expire.
func (l *link) read() {
	var replies []reply
	var landed []call
	for {
		var f flight
		var broken error
		if replies, f, broken = l.receive(replies[:0]); len(replies) > 0 {
			landed = l.land(replies, f, broken, landed[:0])
			clear(landed)
			clear(replies)
		}
		if broken != nil {
			l.fail(broken)
			return
		}
	}
}

// receive one flight's replies. The error is not nil when the connection is broken.
func (l *link) receive(replies []reply) (_ []reply, f flight, broken error) {
	defer func() {
		// Redigo trusts lengths that a node sends. What that leads to must end
		// with the connection, not with the process.
		if v := recover(); v != nil {
			broken = fmt.Errorf("garbage from the node: %v", v)
		}
	}()
	due := 1 // until the first reply has come, and with it a flight
	for len(replies) < due {
		v, err := l.redis.Receive()
		if err != nil && !refusal(err) {
			return replies, f, err
		}
		if len(replies) == 0 {
			if f = l.landed(); f.calls == 0 {
				return nil, f, errUnasked
			}
			due = f.calls
			if watched {
				due += tailReplies
			}
		}
		replies = append(replies, reply{v, err})
	}
	return replies, f, nil
}

// landed takes the oldest flight, which was put there before it was written. It has no calls if there is none.
func (l *link) landed() flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flights.n == 0 {
		return flight{}
	}
	f := *l.flights.at(0)
	l.flights.drop()
	return f
}

// land hands out the replies to the oldest calls. Where the connection broke in the middle of a flight, its
// tail is not known, and what has come of it counts for nothing.
func (l *link) land(replies []reply, f flight, broken error, landed []call) []call {
	now := l.pipe.opts.Clock()
	n := min(len(replies), f.calls)
	look := quorum.Look{Trust: f.trust, Err: broken}
	if watched && broken == nil {
		look = lookOf(replies[n:], f.trust, f.sent, now)
	}

	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return landed // fail has called them lost already
	}
	doubt, changed := l.see(look, now)
	landed = l.calls.pop(n, landed)
	l.landing = n
	l.flying -= n
	l.voted = max(0, l.voted-n)
	l.heard = now
	l.latency += (now - f.sent - l.latency) / 8
	finished := l.retired && l.calls.n == 0
	retired := l.retired
	l.mu.Unlock()

	if !retired {
		l.pipe.heard(l)
	}
	if changed {
		l.pipe.trustChanged(l)
	}
	for k := range landed {
		l.answer(&landed[k], replies[k], look.Clock, doubt, now)
	}
	l.mu.Lock()
	l.landing = 0
	l.mu.Unlock()
	if finished {
		l.fail(errSilent)
	}
	return landed
}

// see what was read behind a flight, with mu held: whether its votes count, and whether that is news.
func (l *link) see(look quorum.Look, now time.Duration) (doubt error, changed bool) {
	if !watched {
		return look.Err, false
	}
	was := l.watch.Vouched()
	doubt = l.watch.See(look)
	changed = was != l.watch.Vouched()
	l.told = l.told && !changed
	if _, _, jumped := l.watch.Jumped(); jumped && changed {
		l.jumped = now
	}
	return doubt, changed
}

func (l *link) answer(c *call, r reply, clock quorum.Reading, doubt error, now time.Duration) {
	if c.own != nil {
		if c.own.done != nil {
			c.own.done(r)
		}
		return
	}
	if noScript(r.err) && !c.resent {
		// It goes behind what was sent meanwhile, out of its order. That does no harm: a take that overtook
		// a release is refused, since the key is still there, and an undo looks at the expiry.
		c.resent = true
		if l.send(*c, now) == nil {
			return
		}
	}
	if r.err != nil {
		l.pipe.refused(r.err)
	}
	if c.voter == nil {
		if r.err != nil {
			l.pipe.retry(*c)
		}
		return // told; nobody waits to hear what came of it
	}
	a := decode(c.req, r.value, r.err)
	if doubt == nil { // so that the clock has not jumped
		stamp(&a, c.req, clock)
	} else {
		a = a.Doubted(c.req.Op, doubt)
	}
	a.At = now
	c.voter.Hear(c.i, a)
}
