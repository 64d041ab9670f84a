package sim

import (
	"time"

	"redlockd/quorum"
)

// What follows is backend's attend: looking at a node also while there is no traffic, and settling whose clock it was that jumped.

const (
	lookEvery    = 500 * time.Millisecond
	examineEvery = 5 * time.Second
	inDoubt      = 5 * time.Second
)

var ping = []string{"PING"}

func (p *pipe) attend(t *task) {
	examined := p.clock()
	for wait := lookEvery; ; {
		t.sleepUntil(wait, &p.alarm)
		wait = lookEvery
		l := p.current
		if l == nil {
			continue
		}
		l.lookIfIdle()
		if now := p.clock(); now-examined >= examineEvery {
			examined = now
			if old, renewed, due := l.watch.Renew(p.wall(), p.mix.tolerance); due {
				_ = l.put(call{words: said.Renew(old, renewed)}, now)
			}
		}
		if p.settleClock(l) {
			wait = p.mix.patience.Timeout / 4
		}
	}
}

func (l *link) lookIfIdle() {
	if len(l.calls) == 0 {
		_ = l.put(call{words: ping}, l.clock())
	}
}

func (p *pipe) settleClock(l *link) (soon bool) {
	by, wall, jumped := l.watch.Jumped()
	since := l.jumped
	if jumped {
		blame := quorum.JudgeClock(by, p.evidence(since, wall))
		if blame == quorum.Theirs && wall && !p.teachable() {
			blame = quorum.NotKnown
		}
		if blame == quorum.NotKnown && p.clock()-since > p.doubtFor(wall) {
			blame = quorum.Theirs
		}
		switch blame {
		case quorum.Theirs:
			p.count("clock jumps blamed on the node")
			p.say(p.name, "blames node %d: its clock %s", p.index, by)
			l.watch.Condemn()
		case quorum.Ours:
			p.count("clock jumps blamed on ourselves")
			p.say(p.name, "has stood still: node %d's clock %s", p.index, by)
			l.watch.Forgive()
		}
	}
	vouch, due := l.watch.Condemned()
	if due && !l.settles {
		l.settles = true
		if by != (quorum.Shift{}) {
			p.noteJump()
		}
		p.deleteMark(l, vouch)
	}
	return jumped && p.clock()-since < inDoubt
}

func (p *pipe) noteJump() {
	p.jumps++
	p.jumpAt = p.clock()
}

func (p *pipe) doubtFor(wall bool) time.Duration {
	if wall {
		return quorum.WaitOut(p.mix.maxLife())
	}
	return inDoubt
}

func (p *pipe) deleteMark(l *link, vouch string) {
	err := l.put(call{words: said.Unvouch(vouch), done: func(v any) {
		l.settles = false
		if _, failed := v.(error); !failed {
			l.watch.Retracted(vouch)
		}
	}}, p.clock())
	if err != nil {
		l.settles = false
	}
}

func (p *pipe) evidence(since time.Duration, wall bool) []quorum.Evidence {
	var all []quorum.Evidence
	for _, o := range p.pipes {
		if o == p {
			continue
		}
		e := quorum.Evidence{}
		if l := o.current; l != nil {
			if wall {
				e = l.watch.WallEvidence(p.wall(), p.mix.tolerance)
			} else {
				e = l.watch.Evidence(since)
			}
			if !e.Heard {
				l.lookIfIdle()
			}
		}
		all = append(all, e)
	}
	return all
}
