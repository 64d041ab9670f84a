package sim

import (
	"time"

	"redlockd/quorum"
)

// betrayal is a fault that strikes where it hurts most: a node that has just said yes, that has a lock which was just
// granted, that is being scanned or is about to be vouched for. By chance alone such things meet too seldom.
type betrayal int

const (
	struckByFlush betrayal = iota
	struckEmpty
	struckWithSnapshot
	struckWithAll
	struckByClock
	snapshotToo // lessons begin with a snapshot of the node
	numBetrayals
)

// betray the node, perhaps. It says whether.
func (w *world) betray(m *machine, chance float64, where string) bool {
	inLesson := chance == w.mix.struckInLesson
	if w.calm || !w.maybe(chance) || !m.up || !inLesson && !w.spare(m) && w.maybe(0.8) {
		return false
	}
	b := w.mix.someBetrayal(w.loop)
	if inLesson && w.mix.betrayals[snapshotToo] && w.maybe(0.5) {
		b = struckWithSnapshot
	}
	switch {
	case b == snapshotToo:
		return false
	case b == struckByClock:
		if w.now-w.clockWrong < 6*time.Second && w.clockWrong > 0 || w.mix.n < 3 || w.canCrash() {
			return false
		}
		w.clockWrong, w.check.stepped = w.now, true
		w.say(m.name, "%s, and its clock steps by %v", where, w.mix.maxLife())
		m.node.Step(w.mix.maxLife())
		w.count("clock step where it hurts")
	case b == struckByFlush:
		w.say(m.name, "%s", where)
		m.flush()
		w.count("flush where it hurts")
	default:
		w.say(m.name, "%s", where)
		with := nothing
		switch b {
		case struckWithSnapshot:
			with = snapshot
		case struckWithAll:
			with = complete
		}
		m.restart(w.between(0, 5*ms), with)
		w.count("restart where it hurts")
	}
	return true
}

func (m *mix) someBetrayal(l *loop) betrayal {
	var can []betrayal
	for b := range snapshotToo {
		if m.betrayals[b] {
			can = append(can, b)
		}
	}
	if len(can) == 0 {
		return snapshotToo
	}
	return pick(l, can...)
}

// spare says that the others can teach the node: where too few can, nothing much happens for a long time.
func (w *world) spare(m *machine) bool {
	n := 0
	for _, o := range w.machines {
		if o != m && o.up && o.vouched() {
			n++
		}
	}
	return n >= w.mix.n-w.mix.n/2
}

// makeUneven lets some of a round's requests arrive late, and some very late: so that its majority is a bare one, and slow. It
// is done to takes of what is free, and to extends, and not again while the last is not over.
func (p *proxy) makeUneven(req *quorum.Request) bool {
	if p.calm || p.now < p.evenUntil || !p.maybe(p.mix.uneven) {
		return false
	}
	for _, m := range p.machines {
		if _, held := m.node.Value(string(req.Key)); held && req.Op == quorum.Take {
			return false
		}
	}
	late, veryLate := p.someLate()
	for i, q := range p.pipes {
		switch {
		case q.link == nil:
		case late[i]:
			q.link.socket.block(&q.link.socket.up, p.between(p.mix.roundLimit/20, p.mix.roundLimit/2))
			p.count("late request")
		case veryLate[i]:
			q.link.socket.block(&q.link.socket.up, p.between(p.mix.roundLimit, 4*p.mix.roundLimit))
			p.count("very late request")
		}
	}
	p.evenUntil = p.now + p.about(2*p.mix.roundLimit)
	return true
}

// someLate chooses: a minority very late and one more late, so that no majority can be complete without that; or by chance.
func (p *proxy) someLate() (late, veryLate map[int]bool) {
	late, veryLate = map[int]bool{}, map[int]bool{}
	order := p.rng.Perm(p.mix.n)
	if p.maybe(0.6) {
		minority := p.mix.n - p.mix.n/2 - 1
		for _, i := range order[:minority] {
			veryLate[i] = true
		}
		late[order[minority]] = true
		return late, veryLate
	}
	for _, i := range order {
		switch p.rng.IntN(4) {
		case 0:
			late[i] = true
		case 1:
			veryLate[i] = true
		}
	}
	return late, veryLate
}
