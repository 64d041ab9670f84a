package sim

import (
	"time"

	"redlockd/quorum"
)

// focus is what a seed looks at: a seed of each kind in turn. What two rare faults do together is seldom met by chance, and the seeds
// that look at them leave everything else out.
type focus struct {
	name string
	on   func(l *loop, m *mix)
}

var focuses = []focus{
	{"everything", func(l *loop, m *mix) {
		m.betray(struckEmpty, struckWithSnapshot, struckByFlush, snapshotToo)
		m.struckAtTake, m.struckAtYes, m.struckAtGrant, m.struckInLesson = 0.001, 0.05, 0.05, 0.05
	}},
	{"forgetting", forgetting},
	{"votes in flight", inFlight},
	{"lessons", lessons},
	{"time", wrongTime},
	{"lateness", lateness},
	{"tokens", func(l *loop, m *mix) {
		m.small(l)
		m.shared = true
		m.proxies = 2
		m.uneven = 0.2
		m.ttls = []time.Duration{100 * ms, 300 * ms}
		m.splitRetries = 3
		if l.maybe(0.5) {
			m.betray(struckByFlush)
			m.struckAtYes, m.uneven = 0.3, 0.5
		}
	}},
	{"clocks", func(l *loop, m *mix) {
		m.small(l)
		m.uneven = 0.4
		m.length = 16 * time.Second
		m.betray(struckByClock)
		if l.maybe(0.3) {
			m.betray(struckByFlush)
		}
		m.struckAtYes, m.struckAtGrant, m.struckInLesson = 0.3, 0.5, 0.1
		m.addFault("clock step", 4*time.Second)
	}},
	{"new fleets", newFleets},
}

// forgetting: nodes lose their memory just when somebody has used it.
func forgetting(l *loop, m *mix) {
	m.small(l)
	m.brief, m.rounds = pick(l, 0.7, 0.95), pick(l, time.Duration(4), 10)
	m.uneven = pick(l, 0.3, 0.6)
	m.struckAtYes, m.struckAtGrant = pick(l, 0, 0.6), pick(l, 0.1, 0.5)
	m.struckInLesson, m.struckAtTake = pick(l, 0, 0, 0.2, 0.4), pick(l, 0, 0.002)
	m.betray(struckByFlush)
	if l.maybe(0.5) {
		m.betray(struckEmpty, struckWithSnapshot, struckWithAll, snapshotToo)
	}
	m.slowCopies, m.slowCopy = pick(l, 0, 0.5), pick(l, 2*m.roundLimit, m.roundLimit/2)
	m.pieces, m.pieceGap = pick(l, 0, 0.1, 0.8), pick(l, 5*ms, 15*ms, 2*m.roundLimit)
	m.poll = pick(l, m.poll, m.poll, 100*ms)
	if l.maybe(0.3) {
		m.addFault("redlockd pause", pick(l, 300*ms, time.Second))
	}
}

// inFlight: a node loses its memory when it has said yes, before the majority that it is part of is complete.
func inFlight(l *loop, m *mix) {
	m.small(l)
	m.n = 3
	m.roundLimit = pick(l, 250*ms, 500*ms)
	m.patience.Limit, m.patience.Timeout = m.roundLimit, m.roundLimit/2
	m.uneven = 0.9
	m.poll = 5 * ms
	m.betray(struckByFlush)
	m.struckAtYes = 0.6
}

// lessons: a node forgets a lock that was just granted, and while it is taught, somebody strikes again.
func lessons(l *loop, m *mix) {
	m.small(l)
	m.n, m.proxies, m.keys = 3, 2, 1
	m.roundLimit = pick(l, 60*ms, 100*ms)
	m.patience.Limit, m.patience.Timeout = m.roundLimit, m.roundLimit/2
	m.brief, m.rounds, m.extends = 1, 12, 0
	m.uneven = 0.7
	m.struckAtGrant, m.struckInLesson = 0.7, pick(l, 0.15, 0.4)
	m.betray(struckByFlush)
	if l.maybe(0.5) {
		m.betray(struckWithSnapshot, snapshotToo)
	}
	m.slowCopies, m.slowCopy = pick(l, 0, 0.5), pick(l, m.roundLimit/4, 2*m.roundLimit)
}

// wrongTime: nodes run as fast as is tolerated.
func wrongTime(l *loop, m *mix) {
	m.small(l)
	m.nodeRate, m.sameRate = 0.004, true
	m.brief, m.toTheEnd = 0.5, 0.3
	m.proxyRate = 0.0005
	m.poll = 2 * ms
	m.clients = 3
	m.length = 6 * time.Second
}

// lateness: redlockd stands still at every point of its way, and clients do not wait.
func lateness(l *loop, m *mix) {
	m.small(l)
	m.hiccups, m.hiccup = 0.1, pick(l, m.roundLimit, m.roundLimit/2)
	m.hangUps, m.hangUp = 0.2, pick(l, ms, 5*ms)
	m.uneven = 0.4
	m.addFault("redlockd pause", 200*ms)
	m.addFault("partition", 500*ms)
}

// newFleets: all nodes forget, again and again.
func newFleets(l *loop, m *mix) {
	m.small(l)
	m.uneven = 0.5
	m.roundLimit = 500 * ms
	m.patience.Limit, m.patience.Timeout = m.roundLimit, 200*ms
	m.lateWriters, m.lateWriter = 0.1, 50*ms
	m.addFault("all forget", pick(l, 300*ms, 800*ms))
	if l.maybe(0.6) {
		m.addFault("redlockd pause", 500*ms)
		m.addFault("partition", 500*ms)
		m.betray(struckByFlush)
		m.struckAtYes, m.struckInLesson = 0.1, 0.1
	}
}

// small is a world in which much happens in a short time: three or five nodes, two or three redlockd, one or two keys, locks that
// are long compared with rounds, and no faults yet.
func (m *mix) small(l *loop) {
	m.faults = nil
	m.n, m.proxies, m.clients, m.keys = pick(l, 3, 3, 3, 5), pick(l, 2, 2, 3), 2+l.rng.IntN(3), pick(l, 1, 1, 2)
	m.shared, m.blank, m.gentle = false, false, false
	m.latency, m.jitter = 100*time.Microsecond, 200*time.Microsecond
	m.spikes, m.pieces, m.hiccups, m.hangUps, m.slowCopies, m.lateWriters = 0, 0, 0, 0, 0, 0
	m.roundLimit = pick(l, 60*ms, 120*ms, 250*ms)
	m.patience = quorum.Patience{Timeout: m.roundLimit / 2, Limit: m.roundLimit, Silence: 2 * time.Second}
	m.reconnectMin, m.reconnectMax = 2*ms, 50*ms
	m.maxTTL = pick(l, 1500*ms, 3*time.Second)
	m.ttls = []time.Duration{m.maxTTL}
	m.poll = pick(l, 8*ms, 20*ms)
	m.brief = 0.95
	m.length = l.between(3*time.Second, 7*time.Second)
	m.abandon, m.toTheEnd, m.extends = 0.03, 0.05, 0.1
}

func (m *mix) betray(by ...betrayal) {
	for _, b := range by {
		m.betrayals[b] = true
	}
}

func (m *mix) addFault(name string, mean time.Duration) {
	for _, k := range kinds {
		if k.name == name {
			m.faults = append(m.faults, fault{k, mean})
			return
		}
	}
	panic("sim: no fault is called " + name)
}
