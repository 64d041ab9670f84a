package backend

import "time"

// wake the link's own writer.
func (l *link) wake() {
	select {
	case l.kick <- struct{}{}:
	default: // it will look at everything, also at what was queued since
	}
}

// write is the link's own writer.
func (l *link) write() {
	for {
		select {
		case <-l.kick:
		case <-l.dead:
			return
		}
		l.mu.Lock()
		stuck := l.stuck
		l.mu.Unlock()
		if stuck {
			if err := l.wire.flush(l.pipe.opts.Patience.Silence); err != nil {
				l.fail(err)
				return
			}
			l.mu.Lock()
			l.stuck = false
			l.mu.Unlock()
		}
		l.flush(l.pipe.opts.Clock(), stuck)
	}
}

// flush writes what is queued, a flight at a time; now is our clock, read before. What the system does not take at once
// is left to the link's own writer. mine says that the caller has the wire already, and that its buffer is empty.
func (l *link) flush(now time.Duration, mine bool) {
	for l.board(now, mine) {
		if !l.wire.try() {
			l.mu.Lock()
			l.stuck = true
			l.mu.Unlock()
			l.wake()
			return
		}
		mine = true
	}
}

// board puts the queued calls into the wire's buffer, and behind them the tail, as a flight of which the trust is what
// is known of the node before they are sent (P2). False: there is nothing to write, and the caller has not got the wire; or somebody
// else has, who will look here again before giving it up.
func (l *link) board(now time.Duration, mine bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing && !mine {
		return false
	}
	n := min(l.calls.n-l.flying, maxFlight)
	l.writing = n > 0 && l.cause == nil
	if !l.writing {
		return false
	}
	if l.flying == 0 {
		l.heard = max(l.heard, now)
	}
	for range n {
		c := l.calls.at(l.flying)
		l.wire.buf = c.encode(l.wire.buf, now)
		c.sent = now // what we took to write it is not the node's fault
		l.flying++
	}
	if watched {
		l.wire.buf = append(l.wire.buf, tail...)
	}
	l.flights.push(flight{n, l.watch.Trust(), now})
	return true
}

// encode puts the call behind w.
func (c *call) encode(w words, now time.Duration) words {
	switch {
	case c.own != nil:
		return append(w, c.own.command...)
	case c.req.Wire == nil || c.resent:
		return encode(w, c.req, now, c.resent)
	default:
		return append(w, c.req.Wire...)
	}
}
