package sim

import (
	"errors"
	"strconv"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/backend"
)

// What follows is backend's teach, pupil and scan: the steps of a lesson, which quorum.Lesson decides, in the words that
// backend says them in.

var said backend.Spoken

var scriptNames = map[string]string{
	"begin": said.Begin("", "", "", "")[1], "tend": said.Glance()[1], "merge": said.Merge("", nil)[1],
	"vouch": said.Vouch("", quorum.Mark{}, 0, 0)[1], "leave": said.Leave("")[1], "page": said.ReadPage("")[1],
	"unvouch": said.Unvouch("")[1], "renew": said.Renew("", "")[1],
}

var (
	errMarkLost = errors.New("its mark is not ours any more")
	errClock    = errors.New("its clock jumped")
	errLate     = errors.New("it answers too slowly")
	errUnvouch  = errors.New("it is not vouched for itself")
	errBusy     = errors.New("another redlockd teaches it")
	errNot      = errors.New("it is not to be taught so")
	errElse     = errors.New("the first node sees to it")
)

const (
	tendEvery  = 500 * time.Millisecond
	glance     = 50 * time.Millisecond
	restMin    = 100 * time.Millisecond
	restMax    = 30 * time.Second
	steadyFor  = time.Minute
	vouchTries = 10
)

// pupil is a node that is being taught, over one connection and under one mark (P5).
type pupil struct {
	*side
	mark   string
	before quorum.Mark
	tended time.Duration
	waits  string
	founds bool // as part of a new fleet
}

func (p *pipe) pupil(t *task) (*pupil, error) {
	s, err := p.aside(t)
	if err != nil {
		return nil, err
	}
	return &pupil{side: s}, nil
}

func (p *pipe) teach(t *task) {
	for !p.allTried() {
		t.sleep(10 * time.Millisecond)
	}
	for {
		if s := p.standing(); s != quorum.Forgetful && s != quorum.Spoilt {
			t.sleepUntil(lookEvery, &p.nudge)
			continue
		}
		if d := p.rest(); d > 0 {
			t.sleep(d)
		}
		err := p.lesson(t)
		p.ended(err)
		switch err {
		case nil:
		case errBusy:
			t.sleep(quorum.Jitter(tendEvery, p.rng.Float64()))
		default:
			t.sleep(quorum.Jitter(2*restMin, p.rng.Float64()))
		}
	}
}

func (p *pipe) allTried() bool {
	for _, q := range p.pipes {
		if !q.tried {
			return false
		}
	}
	return true
}

func (p *pipe) rest() time.Duration {
	if p.clock()-p.jumpAt > steadyFor {
		p.jumps = 0
	}
	if p.jumps < 2 {
		return 0
	}
	return quorum.Backoff(p.jumps-2, restMin, restMax, p.rng.Float64())
}

func (p *pipe) ended(err error) {
	if err == nil {
		p.count("lessons that ended well")
		if p.current != nil {
			_ = p.current.put(call{words: ping}, p.clock())
		}
		return
	}
	p.say(p.name, "could not teach node %d: %v", p.index, err)
	if err == errClock {
		p.noteJump()
	}
}

func (p *pipe) lesson(t *task) error {
	if quorum.AllForgot(p.standings()) {
		if p.index != 0 && quorum.Planted() != quorum.BugNewOfReachable {
			return errElse
		}
		return p.foundFleet(t)
	}
	s, err := p.pupil(t)
	if err != nil {
		return err
	}
	defer s.close()
	if err = s.learn(t); err != nil {
		_, _ = s.do(t, said.Leave(p.known))
	}
	return err
}

func (s *pupil) learn(t *task) error {
	lesson := quorum.NewLesson(len(s.pipes), s.index, s.mix.roundLimit, s.mix.maxLife())
	for {
		step := lesson.Next(s.clock(), s.standings())
		s.waits = ""
		if step.Long {
			s.waits = ":waits"
		}
		var err error
		switch step.Do {
		case quorum.Begin:
			how := ""
			if s.teachable() {
				how = "able"
			}
			var received time.Duration
			if received, err = s.begin(t, how); err == nil {
				lesson.Begun(received, s.complete())
			}
			if quorum.Planted() == quorum.BugMergeFlushes && err == nil {
				s.flushFirst(t)
			}
		case quorum.Wait:
			t.sleep(min(max(step.Until-s.clock(), time.Millisecond), glance))
			err = s.tend(t)
		case quorum.Scan:
			err = s.study(t, lesson, step.Nodes)
		case quorum.Vouch:
			if err = s.vouch(t, step.Why); err == nil {
				return nil
			}
		case quorum.Stop:
			return errNot
		}
		if err != nil && quorum.Planted() == quorum.BugOtherConnection && !s.socket.open {
			t.sleep(10 * time.Millisecond)
			if other, again := s.pipe.aside(t); again == nil { // and goes on over that
				s.socket, s.runID, err = other.socket, other.runID, nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// flushFirst is a planted bug: everything but the mark is deleted.
func (s *pupil) flushFirst(t *task) {
	_, _ = s.do(t, []string{"FLUSHALL"})
	_, _ = s.do(t, []string{"SET", quorum.MarkKey, s.mark})
}

func (s *pupil) begin(t *task, how string) (time.Duration, error) {
	var v []any
	var err error
	for try, exact := 0, false; try < exactTries && !exact; try++ {
		s.clocks = quorum.NodeClock{}
		s.nonces++
		if v, err = s.timed(t, said.Begin(s.runID, "n"+strconv.Itoa(s.nonces), s.known, how)); err != nil {
			return 0, err
		}
		if try == 0 {
			s.before = quorum.ParseMark(text(v[3]))
		}
		r, _ := s.clocks.Latest()
		exact = r.Exact() || text(v[0]) != "begun"
	}
	s.mark = text(v[4])
	switch text(v[0]) {
	case "begun":
		s.tended = s.clock()
		s.say(s.name, "begins a lesson of node %d (%s) as %s", s.index, how, s.mark)
		if s.faulty() && s.mix.betrayals[snapshotToo] && s.maybe(0.5) {
			s.node.node.Save()
		}
		return s.tended, nil
	case "busy":
		return 0, errBusy
	default:
		return 0, errNot
	}
}

// complete is P13.
func (s *pupil) complete() bool {
	r, _ := s.clocks.Latest()
	return s.before.RunID != "" && s.node.always &&
		!quorum.WallShift(s.before, r, s.wall()).Beyond(s.mix.tolerance)
}

func (s *pupil) tend(t *task) error {
	if s.clock()-s.tended < tendEvery {
		return nil
	}
	return s.looks(t)
}

func (s *pupil) looks(t *task) error {
	s.tended = s.clock()
	v, err := s.timed(t, said.Tend(s.known, s.waits))
	if err == nil && text(v[0]) != s.mark && quorum.Planted() != quorum.BugVouchAnyMark {
		err = errMarkLost
	}
	return err
}

func (s *pupil) study(t *task, lesson *quorum.Lesson, nodes []int) error {
	errs := make([]error, len(nodes))
	t.together(len(nodes), func(t *task, k int) {
		from := s.pipes[nodes[k]]
		errs[k] = errUnvouch
		if l := from.current; l != nil && l.watch.Standing() == quorum.Trusted {
			mark := l.watch.Mark()
			errs[k] = s.copyFrom(t, from, *l.watch.Clock(), func(side *side, read string) bool {
				return quorum.VouchOf(read) == quorum.VouchOf(mark) && quorum.ParseMark(read).RunID == side.runID
			})
		}
	})
	for k, i := range nodes {
		if errs[k] == nil {
			lesson.Scanned(i)
		} else {
			lesson.ScanFailed(i, s.clock())
			s.say(s.name, "could not scan node %d for node %d: %v", i, s.index, errs[k])
		}
	}
	return s.tend(t)
}

// copyFrom merges every lock of the other node into this one (P7, P8).
func (s *pupil) copyFrom(t *task, other *pipe, clock quorum.NodeClock, right func(*side, string) bool) error {
	from, err := other.aside(t)
	if err != nil {
		return err
	}
	defer from.close()
	from.clocks = clock
	if err := from.carries(t, right); err != nil && (s.founds || quorum.Planted() != quorum.BugSourceNotVouchedBefore) {
		return err
	}
	for cursor := "0"; ; {
		began := s.clock()
		s.dawdle(t, from.node, "is about to be scanned")
		v, err := from.timed(t, said.ReadPage(cursor))
		if err != nil {
			return err
		}
		var locks []backend.Lock
		if cursor, locks, err = said.Page(v); err != nil {
			return err
		}
		s.dawdle(t, pick(s.loop, from.node, s.node), "is in the middle of a lesson")
		if len(locks) > 0 {
			n, err := s.do(t, said.Merge(s.mark, locks))
			if err == nil && n.(int64) < 0 {
				err = errMarkLost
			}
			if err != nil {
				return err
			}
		}
		if err := s.tend(t); err != nil {
			return err
		}
		if cursor == "0" {
			if !s.founds && quorum.Planted() == quorum.BugSourceNotVouchedAfter {
				return nil
			}
			if !s.founds && quorum.Planted() == quorum.BugSourceNotVouchedBefore {
				right = func(side *side, read string) bool { return quorum.ParseMark(read).RunID == side.runID }
			}
			return from.carries(t, right)
		}
		t.sleep(3 * (s.clock() - began))
	}
}

// dawdle: a copy of many locks takes long, and meanwhile somebody may strike.
func (s *pupil) dawdle(t *task, m *machine, where string) {
	if !s.faulty() {
		return
	}
	s.betray(m, s.mix.struckInLesson, where)
	if s.maybe(s.mix.slowCopies) {
		t.sleep(s.about(s.mix.slowCopy))
	}
}

func (s *pupil) vouch(t *task, why string) error {
	for range vouchTries {
		if err := s.tryToVouch(t, why); err != errLate {
			return err
		}
	}
	return errLate
}

func (s *pupil) tryToVouch(t *task, why string) error {
	if err := s.looks(t); err != nil {
		return err
	}
	s.betray(s.node, s.mix.struckInLesson, "is about to be vouched for")
	r, _ := s.clocks.Latest()
	s.nonces++
	offset := r.Node - (r.Sent + (r.Received-r.Sent)/2 + s.wall())
	mark := quorum.Mark{RunID: s.runID, Nonce: "v" + strconv.Itoa(s.nonces), Offset: offset}
	low, high := s.clocks.Expect(s.clock())
	v, err := s.do(t, said.Vouch(s.mark, mark, low, high))
	if err != nil {
		return err
	}
	switch text(v) {
	case "lost":
		return errMarkLost
	case "clock":
		return errLate
	}
	s.say(s.name, "has vouched for node %d: %s", s.index, why)
	return nil
}
