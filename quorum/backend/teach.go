package backend

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"redlockd/quorum"
)

const (
	// restMin and restMax bound the random pause before a node is taught again (P9). It grows only while the
	// node's clock is to blame, until it has been right for steadyFor: a clock that runs wrong will be wrong again.
	restMin   = 100 * time.Millisecond
	restMax   = 30 * time.Second
	steadyFor = time.Minute
)

var errElsewhere = errors.New("no node of the fleet is vouched for: the first of them sees to it")

// teach brings the node back into the vote whenever it is not vouched for.
func (p *Pipe) teach(ctx context.Context) {
	p.fleet.tried.Wait() // a node that nobody has called yet looks like one that is down
	for ctx.Err() == nil {
		if s := p.standing(); s != quorum.Forgetful && s != quorum.Spoilt {
			select {
			case <-p.nudge:
			case <-time.After(lookEvery):
			case <-ctx.Done():
			}
			continue
		}
		if pause := p.pause(); pause > 0 {
			p.progress("resting, since its clock jumped before")
			sleep(ctx, pause)
		}
		err := p.lesson(ctx)
		p.ended(err)
		switch {
		case errors.Is(err, errBusy): // perhaps for hours (P10), and each try is a connection
			sleep(ctx, quorum.Jitter(tendEvery, rand.Float64()))
		case err != nil:
			sleep(ctx, quorum.Jitter(2*restMin, rand.Float64()))
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// noteJump: the node's clock was to blame.
func (p *Pipe) noteJump() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trust.jumps++
	p.trust.jumped = p.opts.Clock()
}

// pause is how long a node whose clock jumped is left alone: not at all after the first time.
func (p *Pipe) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opts.Clock()-p.trust.jumped > steadyFor {
		p.trust.jumps = 0
	}
	if p.trust.jumps < 2 {
		return 0
	}
	return quorum.Backoff(p.trust.jumps-2, restMin, restMax, rand.Float64())
}

// progress of the lesson, for people.
func (p *Pipe) progress(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trust.teaching = what
}

// ended: the lesson is over. Whether the node is vouched for is seen by its pipe, which looks now.
func (p *Pipe) ended(err error) {
	p.progress("")
	switch {
	case err == nil:
		p.admit.Store(false)
		if l := p.current.Load(); l != nil {
			_ = l.send(call{own: ping}, p.opts.Clock())
		}
	case errors.Is(err, errClock):
		p.noteJump()
		p.inVain(err)
	case errors.Is(err, errVouched), errors.Is(err, errElsewhere), errors.Is(err, errBusy), errors.Is(err, context.Canceled):
		p.opts.Log.Debug("lesson ended", "node", p.opts.Name, "why", err)
	default:
		p.inVain(err)
	}
}

// inVain tells why the node is not back yet: nobody else does, and it can go on for long. The log has each reason once.
func (p *Pipe) inVain(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trust.vouched {
		return
	}
	p.trust.teaching = "in vain so far: " + why.Error()
	if p.trust.inVain != why.Error() {
		p.trust.inVain = why.Error()
		p.opts.Log.Warn("node could not be taught, which is tried again", "node", p.opts.Name, "why", why)
	}
}

// lesson is one try to bring the node back.
func (p *Pipe) lesson(ctx context.Context) error {
	if quorum.AllForgot(p.fleet.standings()) && !p.admit.Load() {
		if p.index != 0 {
			return errElsewhere
		}
		return p.fleet.foundFleet(ctx)
	}
	s, err := p.pupil(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.learn(ctx); err != nil {
		s.leave()
		return err
	}
	return nil
}

// learn carries out the steps of a lesson.
func (s *pupil) learn(ctx context.Context) error {
	p := s.pipe
	lesson := quorum.NewLesson(len(p.fleet.pipes), p.index, p.opts.Patience.Limit, p.opts.MaxLife)
	for {
		if p.admit.Load() {
			lesson.Admit()
		}
		step := lesson.Next(p.opts.Clock(), p.fleet.standings())
		if step.Do != quorum.Scan {
			p.progress(step.Why)
		}
		s.waits = ""
		if step.Long {
			s.waits = ":waits"
		}
		var err error
		switch step.Do {
		case quorum.Begin:
			var received time.Duration
			how := ""
			switch {
			case p.admit.Load():
				how = "force"
			case p.teachable():
				how = "able"
			}
			if received, err = s.begin(how); err == nil {
				lesson.Begun(received, s.complete())
			}
		case quorum.Wait:
			err = s.wait(ctx, step.Until-p.opts.Clock())
		case quorum.Scan:
			err = s.study(ctx, lesson, step.Nodes)
		case quorum.Vouch:
			return s.vouch(fmt.Sprintf("%s, %d locks copied", step.Why, s.copied))
		case quorum.Stop:
			return errors.New(step.Why)
		}
		if err != nil {
			return err
		}
	}
}

// study scans those nodes, side by side. What goes wrong with one of them is not the end of the lesson.
func (s *pupil) study(ctx context.Context, lesson *quorum.Lesson, nodes []int) error {
	errs := make([]error, len(nodes))
	var wait sync.WaitGroup
	for k, i := range nodes {
		wait.Go(func() { errs[k] = s.scan(ctx, s.pipe.fleet.pipes[i]) })
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(tendEvery):
		}
		s.mu.Lock()
		s.pipe.progress(fmt.Sprintf("copying from %d nodes, %d locks so far", len(nodes), s.copied))
		s.mu.Unlock()
	}
	for k, i := range nodes {
		if errs[k] == nil {
			lesson.Scanned(i)
			continue
		}
		lesson.ScanFailed(i, s.pipe.opts.Clock())
		s.scanFailed(s.pipe.fleet.pipes[i], errs[k])
	}
	return s.tend()
}

// scanFailed is logged once for each node and reason: it is tried again every half second, perhaps for hours.
func (s *pupil) scanFailed(other *Pipe, why error) {
	if s.failed[other] == why.Error() {
		return
	}
	s.failed[other] = why.Error()
	s.pipe.opts.Log.Warn("a node could not be scanned for another", "node", other.opts.Name, "for", s.pipe.opts.Name, "why", why)
}

// Admit implements quorum.Node.
func (p *Pipe) Admit() error {
	switch p.standing() {
	case quorum.Trusted:
		return errVouched
	case quorum.Unreached:
		return p.admitClock()
	}
	p.admit.Store(true)
	return nil
}

// admitClock settles a jump by wall clocks that is in doubt: the operator says that there was none.
func (p *Pipe) admitClock() error {
	l := p.current.Load()
	if l == nil {
		return errors.New("it is not connected")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, wall, jumped := l.watch.Jumped(); !jumped || !wall {
		return errors.New("its clock jumped: it will be taught when that is settled")
	}
	l.watch.Forgive()
	return nil
}

// foundFleet vouches for all nodes of a fleet of which none is vouched for (P11). They are asked in the order
// in which they are configured, so that of several redlockd one comes first.
func (f *fleet) foundFleet(ctx context.Context) error {
	all := make([]*pupil, len(f.pipes))
	errs := make([]error, len(f.pipes))
	var wait sync.WaitGroup
	for i, p := range f.pipes {
		wait.Go(func() { all[i], errs[i] = p.pupil(ctx) })
	}
	wait.Wait()
	defer func() {
		for _, s := range all {
			if s != nil {
				s.close()
			}
		}
	}()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err := f.vouchForAll(ctx, all)
	if err != nil {
		for _, s := range all {
			s.leave()
		}
	}
	return err
}

func (f *fleet) vouchForAll(ctx context.Context, all []*pupil) error {
	first := f.pipes[0]
	var begun time.Duration
	for _, s := range all {
		how := "new"
		if len(all) == 1 {
			how = ""
		}
		received, err := s.begin(how) // it stops at a node that is vouched for after all, or spoilt
		if err != nil {
			return err
		}
		begun = received
	}
	over := begun + quorum.WaitOut(first.opts.Patience.Limit)
	for now := begun; now < over; now = first.opts.Clock() {
		first.progress("the fleet is new: waiting for rounds in flight to end")
		sleep(ctx, min(over-now, glance))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, s := range all {
			if err := s.tend(); err != nil {
				return err
			}
		}
	}
	first.progress("the fleet is new, or was restarted as a whole: sharing what its nodes have")
	if err := f.share(ctx, all); err != nil {
		return err
	}
	// All of them have carried our marks since the last was begun: at that moment, none was vouched for.
	for _, s := range all {
		s.mu.Lock()
		err := s.check(first.opts.Clock())
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	// One that is lost now is taught by the others: it does not keep them waiting.
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, s := range all {
		wait.Go(func() {
			errs[i] = s.vouch("as part of a new fleet")
			s.pipe.ended(errs[i])
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// share gives every node what any of the others holds (P8). On a fleet that is new there is nothing to share; but one that was restarted
// as a whole, each node with what it had on its disk, keeps every lock that any of them still knows.
func (f *fleet) share(ctx context.Context, all []*pupil) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, s := range all {
		wait.Go(func() {
			for _, from := range all {
				if from == s || errs[i] != nil {
					continue
				}
				mark, clock := from.credentials()
				errs[i] = s.copyFrom(ctx, from.pipe, clock, func(_ *side, read string) bool { return read == mark })
			}
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return errors.Join(errs...)
		case <-time.After(tendEvery): // those that are ready wait for the others
			for _, s := range all {
				_ = s.tend() // what is wrong with it is found out before it is vouched for
			}
		}
	}
}

// credentials are the mark of the lesson, and what it knows of the node's clock.
func (s *pupil) credentials() (string, quorum.NodeClock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark, s.clock
}
