package sim

import (
	"errors"

	"redlockd/quorum"
)

// foundFleet vouches for all nodes of a fleet of which none is vouched for (P11).
func (p *pipe) foundFleet(t *task) error {
	var all []*pupil
	defer func() {
		for _, s := range all {
			s.close()
		}
	}()
	for _, q := range p.pipes {
		s, err := q.pupil(t)
		switch {
		case err == nil:
			all = append(all, s)
		case quorum.Planted() != quorum.BugNewOfReachable:
			return err
		}
	}
	err := p.vouchForAll(t, all)
	if err != nil {
		for _, s := range all {
			_, _ = s.do(t, said.Leave(p.known))
		}
	}
	return err
}

func (p *pipe) vouchForAll(t *task, all []*pupil) error {
	how := "new"
	if len(all) == 1 {
		how = ""
	}
	for _, s := range all {
		s.founds = true
		if _, err := s.begin(t, how); err != nil {
			return err
		}
	}
	p.count("fleets that seemed new")
	over := p.clock() + quorum.WaitOut(p.mix.roundLimit)
	for p.clock() < over && quorum.Planted() != quorum.BugNewNoWait {
		t.sleep(min(over-p.clock(), glance))
		for _, s := range all {
			if err := s.tend(t); err != nil {
				return err
			}
		}
	}
	if err := p.share(t, all); err != nil {
		return err
	}
	if quorum.Planted() != quorum.BugNewNotAtOnce {
		for _, s := range all {
			if err := s.looks(t); err != nil {
				return err
			}
		}
	}
	errs := make([]error, len(all))
	t.together(len(all), func(t *task, i int) {
		errs[i] = all[i].vouch(t, "as part of a new fleet")
		all[i].ended(errs[i])
	})
	return errors.Join(errs...)
}

// share gives every node what any of the others holds.
func (p *pipe) share(t *task, all []*pupil) error {
	errs := make([]error, len(all))
	t.together(len(all), func(t *task, i int) {
		for _, from := range all {
			if from == all[i] || errs[i] != nil {
				continue
			}
			mark := from.mark
			errs[i] = all[i].copyFrom(t, from.pipe, from.clocks, func(_ *side, read string) bool { return read == mark })
		}
	})
	return errors.Join(errs...)
}
