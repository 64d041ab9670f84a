package sim

import "time"

// betrayal is a fault that strikes where it hurts most: a node that has just said yes, that has a lock which was just
// granted, that is being scanned or is about to be vouched for. By chance alone such things meet too seldom.
type betrayal int

const (
	struckByFlush betrayal = iota
	struckEmpty
	struckWithSnapshot
	struckByClock
	snapshotToo // lessons begin with a snapshot of the node
	numBetrayals
)

// betray the node, perhaps. It says whether.
func (w *world) betray(m *machine, where string) bool {
	if w.calm || !w.maybe(w.mix.betrayal) || !m.up {
		return false
	}
	switch b := w.mix.someBetrayal(w.loop); {
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
		if b == struckWithSnapshot {
			with = snapshot
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

// uneven: of a round's requests some arrive late, and some very late.
func (p *proxy) uneven() {
	if p.calm || p.now < p.evenUntil || !p.maybe(p.mix.uneven) {
		return
	}
	for _, q := range p.pipes {
		if q.link == nil {
			continue
		}
		switch p.rng.IntN(4) {
		case 0:
			q.link.socket.block(&q.link.socket.up, p.between(0, p.mix.roundLimit/2))
			p.count("late request")
		case 1:
			q.link.socket.block(&q.link.socket.up, p.between(0, p.mix.maxTTL/2))
			p.count("very late request")
		}
	}
	p.evenUntil = p.now + p.about(p.mix.maxTTL/2)
}
