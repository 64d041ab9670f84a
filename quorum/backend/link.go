package backend

import (
	"fmt"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// maxFlight is how many requests one flush carries at most: its buffer is bounded, and its first
// answer does not wait long for its last.
const maxFlight = 256

// call is one request on one connection.
type call struct {
	req    *quorum.Request
	own    *own          // in place of req
	voter  quorum.Voter  // nil: nobody waits, it is owed
	i      int           // who we are to voter
	sent   time.Duration // our clock when it was written; until then, when it was queued
	until  time.Duration // owed: not to be told after
	resent bool          // with the body of its script
}

// own is a command that no round has asked for. done may be nil; it is not called when the connection is lost.
type own struct {
	command []byte
	done    func(reply)
}

// flight is the calls of one write, and what is read behind them: the node's mark and its clock, which say whether
// the votes count (P2).
type flight struct {
	calls int
	trust quorum.Trust  // when it departed
	sent  time.Duration // our clock, before it was written
}

// tail asks for the time and the mark. At the head of the flight it would say nothing about what happened before the
// requests were carried out. The mark comes last: should the clock have jumped, no mark that is newer than the jump is deleted for
// it, and none that is older is missed.
var tail = []byte("*1\r\n$4\r\nTIME\r\n*2\r\n$3\r\nGET\r\n$13\r\n" + quorum.MarkKey + "\r\n")

// tailReplies is how many replies the tail has.
const tailReplies = 2

// link is one connection to a node: a FIFO of calls, written by whoever flushes, and one goroutine that reads their
// replies. The answers of a flight are handed out together, once all of it was read, and
// what its tail says about them is known.
//
// Whoever flushes writes what the system takes without waiting. A goroutine of the link's own writes the rest, and what
// nobody flushes: what the node is owed, and our own questions.
type link struct {
	pipe  *Pipe
	redis redis.Conn
	wire  *conn
	peer  peer // whom it leads to

	kick chan struct{} // there is something for the link's own writer
	gone chan struct{} // closed when the link is out of use: retired or failed
	dead chan struct{} // closed when the link has failed

	mu sync.Mutex
	// calls that the node has not answered, the oldest first. Invariant: the first flying of
	// them were written or are being written; the first voted of them have timed out.
	calls   ring[call]
	flying  int
	voted   int
	flights ring[flight] // that were written or are being written, and not answered
	writing bool         // somebody has the wire. Invariant: what is in its buffer is written before anything else
	stuck   bool         // it is the link's own writer, or is to be, because the node did not take all of the buffer at once
	landing int          // calls that were answered, and whose answers are being handed out
	// heard is when the node last spoke; or when it began to owe us something, if that is later.
	heard   time.Duration
	timer   *time.Timer   // runs expire; one for all calls
	armed   bool          // Invariant: true while a vote is outstanding
	due     time.Duration // when the timer fires: not after any vote is due; that it fires too early does no harm
	excused bool          // it fired late, and was given more time, once
	retired bool          // no new calls; waits for the answers of what is flying
	cause   error         // not nil: failed
	watch   *quorum.Watch
	told    bool          // since the node is vouched for: it was told what had waited for that, so that takes may follow
	jumped  time.Duration // our clock when watch saw the node's clock jump
	settles bool          // the deletion of the mark was sent, and not answered (P4)
	latency time.Duration // from a flight's departure to its last answer, smoothed
}

func newLink(p *Pipe, c redis.Conn, wire *conn, peer peer, watch *quorum.Watch) *link {
	l := &link{
		pipe: p, redis: c, wire: wire, peer: peer, watch: watch,
		kick: make(chan struct{}, 1),
		gone: make(chan struct{}),
		dead: make(chan struct{}),
	}
	l.timer = time.AfterFunc(time.Hour, l.expire)
	l.timer.Stop()
	return l
}

func (l *link) start() {
	go l.write()
	go l.read()
}

// send queues a call, or says why not.
func (l *link) send(c call, now time.Duration) error {
	l.mu.Lock()
	err := l.queue(c, now)
	l.mu.Unlock()
	return err
}

// queue needs mu.
func (l *link) queue(c call, now time.Duration) error {
	switch {
	case l.cause != nil:
		return l.cause
	case l.retired:
		return errSilent
	case l.calls.n >= l.pipe.opts.Queue:
		return fmt.Errorf("queue full with %d requests", l.calls.n)
	}
	if watched && c.voter != nil && !c.req.Op.ForAll() {
		if err := l.watch.Vouched(); err != nil {
			return err // P2: only over a connection on which the node was seen to be vouched for
		}
		if !l.told {
			return errUntold
		}
	}
	if l.calls.n == 0 {
		l.heard = now
	}
	if due := now + l.pipe.opts.Patience.Timeout; !l.armed || l.due > due {
		l.arm(now, due-now)
	}
	l.calls.push(c)
	if c.voter == nil || c.resent {
		l.wake() // nobody else flushes it
	}
	return nil
}

// arm the timer, with mu held.
func (l *link) arm(now, wait time.Duration) {
	wait = max(wait, time.Millisecond)
	l.armed, l.due = true, now+wait
	l.timer.Reset(wait)
}

// expire runs when the oldest vote is due, and when the node has been silent for too long.
func (l *link) expire() {
	now := l.pipe.opts.Clock()
	patience := l.pipe.opts.Patience
	var late []call
	l.mu.Lock()
	l.armed = false
	if l.calls.n == 0 || l.cause != nil {
		l.mu.Unlock()
		return
	}
	if more := patience.Excuse(now - l.due); more > 0 && !l.excused {
		l.excused = true
		l.arm(now, more)
		l.mu.Unlock()
		return
	}
	l.excused = false
	// What nobody has flushed yet is waited for by whoever will; what cannot be written, because the node does not read, is not.
	asked := l.flying
	if l.stuck {
		asked = l.calls.n
	} else if asked == 0 {
		l.heard = now
	}
	// A node that has answered is not late: we are, because we did not get the processor. It is waited for up to the round limit.
	if l.voted < asked && patience.Due(l.calls.at(l.voted).sent, l.heard) <= now && l.wire.unread() {
		l.heard = now
	}
	for l.voted < asked && patience.Due(l.calls.at(l.voted).sent, l.heard) <= now {
		late = append(late, *l.calls.at(l.voted))
		l.voted++
	}
	health := patience.Judge(now - l.heard)
	next := l.heard + patience.Silence
	if health == quorum.Up {
		next = min(next, l.heard+patience.Quiet())
	}
	if l.voted < asked {
		next = min(next, patience.Due(l.calls.at(l.voted).sent, l.heard))
	} else if l.voted < l.calls.n {
		next = min(next, now+patience.Timeout)
	}
	if !l.retired || l.voted < l.calls.n {
		l.arm(now, next-now)
	}
	retired := l.retired
	l.mu.Unlock()

	switch {
	case retired || health == quorum.Up:
	case health == quorum.Silent:
		l.pipe.silent(l, now)
	case health == quorum.Down:
		l.pipe.retire(l)
	}
	for _, c := range late {
		if c.voter != nil {
			c.voter.Hear(c.i, quorum.Answer{
				Trace: quorum.Awaited, At: now,
				Err: fmt.Errorf("no answer within %v", (now - c.sent).Round(time.Millisecond)),
			})
		}
	}
}

// retire takes the link out of use: what was not written fails at once, but the answers to what
// was are still waited for. A node that was only stopped will carry those
// requests out when it goes on, and its late yes must be known to be undone.
func (l *link) retire() {
	l.mu.Lock()
	if l.retired || l.cause != nil {
		l.mu.Unlock()
		return
	}
	l.retired = true
	unsent := l.calls.cut(l.flying, nil)
	l.voted = min(l.voted, l.flying)
	idle := l.flying == 0
	l.mu.Unlock()
	close(l.gone)
	now := l.pipe.opts.Clock()
	for _, c := range unsent {
		l.pipe.lose(c, quorum.Answer{Trace: quorum.Nothing, At: now, Err: errSilent})
	}
	if idle {
		l.fail(errSilent)
	}
}

// fail ends the link: what it has not answered is lost, or was never sent. Idempotent.
func (l *link) fail(cause error) {
	cause = plain(cause)
	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return
	}
	l.cause = cause
	lost, retired := l.flying, l.retired
	calls := l.calls.pop(l.calls.n, nil)
	l.flying, l.voted = 0, 0
	l.timer.Stop()
	l.mu.Unlock()

	l.redis.Close()
	close(l.dead)
	l.pipe.leave(l, cause)
	if !retired {
		close(l.gone)
	}
	now := l.pipe.opts.Clock()
	for k, c := range calls {
		a := quorum.Answer{Trace: quorum.Nothing, At: now, Err: cause}
		if k < lost {
			a.Trace = quorum.Lost
		}
		l.pipe.lose(c, a)
	}
}
