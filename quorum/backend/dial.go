package backend

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// connect keeps the pipe connected until ctx is done.
func (p *Pipe) connect(ctx context.Context) {
	tried := sync.OnceFunc(p.fleet.tried.Done)
	defer tried()
	var old *link // the connection before, which may be retired and not dead yet
	for failed := 0; ctx.Err() == nil; {
		l, err := p.dial(ctx, old)
		if err != nil {
			failed++
			p.mu.Lock()
			p.change(quorum.Down, p.opts.Clock(), plain(err))
			p.mu.Unlock()
		} else {
			failed = 0
			p.mu.Lock()
			p.logged = map[string]bool{}
			p.enter(l)
			p.mu.Unlock()
			l.start() // now, so that leave finds it entered however soon it fails
			old = l
			tried()
			select {
			case <-l.gone:
			case <-ctx.Done():
			}
		}
		tried()
		select {
		case <-time.After(quorum.Backoff(failed, p.opts.ReconnectMin, p.opts.ReconnectMax, rand.Float64())):
		case <-ctx.Done():
		}
	}
	if old != nil {
		old.fail(errClosed)
	}
}

// dial connects, loads our scripts, ends the old connection on the node, and reads the node's mark and clock.
func (p *Pipe) dial(ctx context.Context, old *link) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
	defer cancel()
	c, wire, err := login(ctx, p.opts)
	if err != nil {
		return nil, err
	}
	l, err := p.acquaint(ctx, c, wire, old)
	if err == nil {
		err = wire.Conn.SetDeadline(time.Time{})
	}
	if err != nil {
		c.Close()
		p.fleet.unclaim(p)
		return nil, err
	}
	return l, nil
}

// login connects and logs in; the address is resolved anew each time. The deadline of ctx is the connection's until it is
// taken away. It does not leave the login to redigo, which reads in another goroutine: there garbage could not be
// recovered from.
func login(ctx context.Context, o Options) (c redis.Conn, wire *conn, err error) {
	defer func() {
		if err != nil && wire != nil {
			wire.Conn.Close()
		}
	}()
	defer recoverGarbage(&err)
	c, err = redis.DialContext(ctx, o.Network, o.Address,
		redis.DialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			socket, err := o.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			wire = newConn(socket)
			limit, _ := ctx.Deadline()
			return wire, socket.SetDeadline(limit)
		}))
	if err == nil && o.Password != "" {
		args := []any{o.Password}
		if o.Username != "" {
			args = []any{o.Username, o.Password}
		}
		_, err = c.Do("AUTH", args...)
		err = discreet(err, o.Password)
	}
	if err == nil && o.DB != 0 {
		_, err = c.Do("SELECT", o.DB)
	}
	return c, wire, err
}

// acquaint a fresh connection with its node, and make it a link.
func (p *Pipe) acquaint(ctx context.Context, c redis.Conn, wire *conn, old *link) (_ *link, err error) {
	defer recoverGarbage(&err)
	met, findings, err := greet(c, p.opts.DB)
	if err != nil {
		return nil, err
	}
	p.noteFindings(findings)
	if err := p.fleet.claim(p, met.runID); err != nil {
		return nil, err
	}
	watch := quorum.NewWatch(met.runID, nil)
	var jumped time.Duration // when a jump was seen that is not settled yet: doubt must not begin anew with every connection
	if old != nil {
		if err := succeed(ctx, c, met, old); err != nil {
			return nil, err
		}
		old.mu.Lock() // its last answers may still be handed out, and attend be at work
		watch = quorum.NewWatch(met.runID, old.watch)
		jumped = old.jumped
		old.mu.Unlock()
	}
	l := newLink(p, c, wire, met, watch)
	_, _, inDoubt := watch.Jumped()
	// Until an answer was quick: a step shorter than a baseline is wide would not be seen. On a slow network none is, and
	// there must be time left to connect.
	var look quorum.Look
	enough := p.opts.Clock() + p.opts.DialTimeout/10
	for try := 0; try == 0 || try < exactTries && !look.Clock.Exact() && p.opts.Clock() < enough; try++ {
		if look, err = p.look(c); err != nil {
			return nil, err
		}
		l.mu.Lock()
		_, _ = l.see(look, look.Clock.Received) // there are no votes yet
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.watch.CheckWall(p.wall(), p.opts.Tolerance)
	if inDoubt {
		l.jumped = jumped
	} else if _, _, seen := l.watch.Jumped(); seen {
		l.jumped = look.Clock.Received
	}
	l.mu.Unlock()
	p.mu.Lock()
	p.met = met
	p.mu.Unlock()
	return l, nil
}

// exactTries is how often the clock is read when a connection is opened: on a slow network it is never exact.
const exactTries = 10

// look reads the node's clock and mark. Without a mark, it is "".
func (p *Pipe) look(c redis.Conn) (quorum.Look, error) {
	sent := p.opts.Clock()
	t, err := c.Do("TIME")
	if err != nil {
		return quorum.Look{}, err
	}
	received := p.opts.Clock()
	mark, err := c.Do("GET", quorum.MarkKey)
	if err != nil {
		return quorum.Look{}, err
	}
	look := lookOf([]reply{{t, nil}, {mark, nil}}, quorum.Trust{}, sent, received)
	return look, look.Err
}

// peer is what a node says of itself, and of a connection to it.
type peer struct {
	version string
	role    string
	runID   string // of the running instance
	id      int64  // of the connection, among those of the instance
}

// greet examines the node, loads our scripts and waits for the answers, so that a node that only accepts
// connections (because it is stopped, or loading its data) is not up. What is fatal is the error.
func greet(c redis.Conn, db int) (peer, []Finding, error) {
	info, findings, err := examine(c, db)
	if err != nil {
		return peer{}, nil, err
	}
	if len(findings) > 0 && findings[0].Fatal {
		if mayHaveEvicted(findings) { // the mark has no expiry, and survives where locks do not
			if _, err := c.Do("EVAL", unvouch, 1, quorum.MarkKey, "", quorum.SpoiltMark); err != nil && !refusal(err) {
				return peer{}, nil, err
			}
		}
		return peer{}, nil, findings[0]
	}
	for _, s := range scripts {
		if _, err := c.Do("SCRIPT", "LOAD", s.text); err != nil {
			return peer{}, nil, err
		}
	}
	id, err := redis.Int64(c.Do("CLIENT", "ID"))
	if err != nil {
		return peer{}, nil, err
	}
	version := infoField(info, "valkey_version")
	if version == "" {
		version = infoField(info, "redis_version")
	}
	return peer{version: version, role: infoField(info, "role"), runID: infoField(info, "run_id"), id: id}, findings, nil
}

// refusal is an error that the node has answered with; every other one is the end of the connection.
func refusal(err error) bool {
	var e redis.Error
	return errors.As(err, &e)
}

// succeed ends the old connection on the node before the new one is used: what the node has not read of it is
// never carried out, so that there is one ordered pipe to a node at any time. Else a release that lay in a buffer
// could delete, later, what was taken with the same token since. What the node has answered on the old one
// is read until its end. An instance that was restarted has nothing of it, and counts its connections anew: the old
// number may be somebody else's.
func succeed(ctx context.Context, c redis.Conn, met peer, old *link) error {
	if old.peer.runID == met.runID {
		if _, err := c.Do("CLIENT", "KILL", "ID", old.peer.id); err != nil && !refusal(err) {
			return err
		}
		select {
		case <-old.dead:
		case <-ctx.Done():
		}
	}
	old.fail(errSilent)
	return nil
}

// plain is an error in the fewest words that say it: what the system said, without the
// addresses that stand beside it anyway.
func plain(err error) error {
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
		return number
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return errSilent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("connection closed by the node")
	}
	return err
}
