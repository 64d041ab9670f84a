package backend

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

var (
	errMarkLost  = errors.New("its mark is not ours any more: it was flushed, or another redlockd teaches it")
	errClock     = errors.New("its clock jumped")
	errLate      = errors.New("its clock could not be read exactly enough: it answers too slowly")
	errNotMarked = errors.New("it is not vouched for itself")
	errBusy      = errors.New("another redlockd teaches it")
	errSpoilt    = errors.New("it was un-vouched before: the fleet is not new")
	errVouched   = errors.New("it is vouched for")
)

// side is a connection to a node beside its pipe, for readmission: so that a copy of many locks does not stand
// in the way of rounds.
type side struct {
	pipe  *Pipe
	conn  redis.Conn
	wire  *conn
	info  string
	runID string // as this very connection was told (P1)
	clock quorum.NodeClock
	stop  func() bool
}

// aside opens a side connection, which ends with ctx.
func (p *Pipe) aside(ctx context.Context) (*side, error) {
	limit, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
	defer cancel()
	c, wire, err := login(limit, p.opts)
	if err != nil {
		return nil, plain(err)
	}
	s := &side{pipe: p, conn: c, wire: wire}
	s.stop = context.AfterFunc(ctx, func() { c.Close() })
	if s.info, err = redis.String(s.do("INFO")); err != nil {
		s.close()
		return nil, plain(err)
	}
	s.runID = infoField(s.info, "run_id")
	return s, nil
}

func (s *side) close() {
	s.stop()
	s.conn.Close()
}

// do one command, within the dial timeout.
func (s *side) do(name string, args ...any) (v any, err error) {
	defer recoverGarbage(&err)
	if err := s.wire.Conn.SetDeadline(time.Now().Add(s.pipe.opts.DialTimeout)); err != nil {
		return nil, err
	}
	return s.conn.Do(name, args...)
}

// timed runs a script of ours that answers the node's time at that place of an array, and looks whether it jumped.
func (s *side) timed(at int, args []any) ([]any, error) {
	sent := s.pipe.opts.Clock()
	values, err := redis.Values(s.do("EVAL", args...))
	if err != nil {
		return nil, plain(err)
	}
	if len(values) < at+2 {
		return nil, errors.New("unexpected reply")
	}
	r, err := readingOf(values[at:at+2], sent, s.pipe.opts.Clock())
	if err != nil {
		return nil, err
	}
	if _, ok := s.clock.Observe(r); !ok {
		return nil, errClock
	}
	return values, nil
}
