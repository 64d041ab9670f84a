package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

const (
	// teacherLease is how long others wait for a teacher that has gone away; it is renewed every tendEvery.
	teacherLease = 3 * time.Second
	tendEvery    = 500 * time.Millisecond
	// glance is how often a lesson that waits looks whether something has changed.
	glance = 50 * time.Millisecond
)

// pupil is a node that is being taught, over one connection and under one mark (P5): where either is lost, so is
// the lesson.
type pupil struct {
	*side
	mark   string // ours
	before quorum.Mark
	failed map[*Pipe]string // why which node could not be scanned

	mu     turns // guards the connection while several nodes are scanned
	tended time.Duration
	waits  string // ":waits" while there are too few teachers (P10)
	copied int    // locks merged
}

func (p *Pipe) pupil(ctx context.Context) (*pupil, error) {
	s, err := p.aside(ctx)
	if err != nil {
		return nil, err
	}
	return &pupil{side: s, failed: map[*Pipe]string{}, mu: make(turns, 1)}, nil
}

// turns is a lock that is held while a node answers: in a test, virtual time goes on for who waits for a channel, and
// stands still for who waits for a mutex.
type turns chan struct{}

func (t turns) Lock()   { t <- struct{}{} }
func (t turns) Unlock() { <-t }

// begin sets our mark (P5), and returns our clock when the answer was read. how is "", "able" if there
// are enough teachers, "new" for a fleet that is new (P11), or "force", an operator's word against another teacher.
func (s *pupil) begin(how string) (time.Duration, error) {
	var v []any
	var err error
	for try, exact := 0, false; try < exactTries && !exact; try++ { // again, since the clock is compared with what it shows now (P9)
		s.clock = quorum.NodeClock{}
		v, err = s.timed(1, beginArgs(s.runID, nonce(), s.pipe.fleet.name, how))
		if err != nil {
			return 0, err
		}
		if len(v) < 5 {
			return 0, errors.New("unexpected reply")
		}
		if try == 0 {
			s.before = quorum.ParseMark(text(v[3]))
		}
		r, _ := s.clock.Latest()
		exact = r.Exact() || text(v[0]) != "begun"
	}
	s.mark = text(v[4])
	switch text(v[0]) {
	case "begun":
		s.tended = s.pipe.opts.Clock()
		return s.tended, nil
	case "vouched":
		return 0, errVouched
	case "spoilt":
		return 0, errSpoilt
	default:
		return 0, errBusy
	}
}

// complete says that the node, by its own word, has loaded from its disk all that it had acknowledged before (P13): it was
// vouched for then, writes every lock to its disk before it answers, was no replica, and its clock has not jumped since, which would have
// made its locks expire too early.
func (s *pupil) complete() bool {
	if s.before.RunID == "" || infoField(s.info, "aof_enabled") != "1" ||
		infoField(s.info, "role") != "master" || infoField(s.info, "second_repl_offset") != "-1" {
		return false
	}
	r, _ := s.clock.Latest()
	if quorum.WallShift(s.before, r, s.pipe.wall()).Beyond(s.pipe.opts.Tolerance) {
		return false
	}
	pair, err := redis.Strings(s.do("CONFIG", "GET", "appendfsync"))
	return err == nil && len(pair) == 2 && pair[1] == "always"
}

// tend tells others that the lesson goes on, and looks whether it may.
func (s *pupil) tend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.pipe.opts.Clock()
	if now-s.tended < tendEvery {
		return nil
	}
	return s.check(now)
}

func (s *pupil) check(now time.Duration) error {
	s.tended = now
	v, err := s.timed(1, tendArgs(s.pipe.fleet.name, s.waits))
	if err != nil {
		return err
	}
	if text(v[0]) != s.mark {
		return errMarkLost
	}
	return nil
}

// wait a moment, but not longer than d.
func (s *pupil) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(min(max(d, time.Millisecond), glance)):
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.tend()
}

// merge locks into the pupil (P8).
func (s *pupil) merge(locks []lock) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := redis.Int(s.do("EVAL", mergeArgs(s.mark, locks)...))
	switch {
	case err != nil:
		return plain(err)
	case n < 0:
		return errMarkLost
	}
	s.copied += n
	return nil
}

// vouch for the node (P9). how it came to that is for people.
func (s *pupil) vouch(how string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pipe.willBeVouched(how)
	for range vouchTries {
		if err := s.tryToVouch(); err != errLate {
			return err
		}
	}
	return errLate
}

// vouchTries is how often it is tried while nothing but a slow answer stands in the way.
const vouchTries = 10

// tryToVouch: the mark must still be ours, and the clock what ours allows, at the moment it happens. Since that moment is not
// known before, a request that is slower on its way than the one before it, by far, is refused by the node.
func (s *pupil) tryToVouch() error {
	if err := s.check(s.pipe.opts.Clock()); err != nil {
		return err
	}
	r, _ := s.clock.Latest()
	mark := quorum.Mark{RunID: s.runID, Nonce: nonce(), Offset: offset(r, s.pipe.wall())}
	low, high := s.clock.Expect(s.pipe.opts.Clock())
	said, err := redis.String(s.do("EVAL", vouchArgs(s.mark, mark, low, high)...))
	switch {
	case err != nil:
		return plain(err)
	case said == "lost":
		return errMarkLost
	case said == "clock":
		return errLate
	case said != "vouched":
		return fmt.Errorf("unexpected reply %q", said)
	}
	return nil
}

// leave lets another redlockd teach the node.
func (s *pupil) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.do("EVAL", leaveArgs(s.pipe.fleet.name)...) // else it ends by itself
}
