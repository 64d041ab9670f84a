package backend

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// connect keeps the pipe connected until ctx is done.
func (p *Pipe) connect(ctx context.Context) {
	defer close(p.done)
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
			select {
			case <-l.gone:
			case <-ctx.Done():
			}
		}
		select {
		case <-time.After(quorum.Backoff(failed, p.opts.ReconnectMin, p.opts.ReconnectMax, rand.Float64())):
		case <-ctx.Done():
		}
	}
	if old != nil {
		old.fail(errClosed)
	}
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
			wire = &conn{Conn: socket}
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

// dial connects, loads our scripts, and ends the old connection on the node.
func (p *Pipe) dial(ctx context.Context, old *link) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
	defer cancel()
	c, wire, err := login(ctx, p.opts)
	if err != nil {
		return nil, err
	}
	met, err := greet(c)
	if err == nil && old != nil {
		err = succeed(ctx, c, met, old)
	}
	if err == nil {
		err = wire.Conn.SetDeadline(time.Time{})
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	p.mu.Lock()
	p.version = met.version
	p.mu.Unlock()
	wire.gather = true
	return newLink(p, c, wire, met), nil
}

// peer is what a node says of itself, and of a connection to it. A node that does not say it is a node all the same.
type peer struct {
	version string
	runID   string // of the running instance
	id      int64  // of the connection, among those of the instance; 0 if it is not told
}

// greet loads our scripts and waits for the answers, so that a node that only accepts
// connections (because it is stopped, or loading its data) is not up.
func greet(c redis.Conn) (peer, error) {
	for _, s := range scripts {
		if _, err := c.Do("SCRIPT", "LOAD", s.text); err != nil {
			return peer{}, err
		}
	}
	info, err := redis.String(c.Do("INFO", "server"))
	if err != nil && !refusal(err) {
		return peer{}, err
	}
	id, err := redis.Int64(c.Do("CLIENT", "ID"))
	if err != nil && !refusal(err) {
		return peer{}, err
	}
	version := infoField(info, "valkey_version")
	if version == "" {
		version = infoField(info, "redis_version")
	}
	return peer{version: version, runID: infoField(info, "run_id"), id: id}, nil
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
	if old.peer.id != 0 && old.peer.runID != "" && old.peer.runID == met.runID {
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
