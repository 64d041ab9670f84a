package sim

import (
	"fmt"
	"strings"
	"time"

	"redlockd/quorum"
)

// mix is what a seed makes of the world: how large it is, how slow, and what goes wrong in it how often. Each seed leaves most kinds
// of faults out (swarm testing): what happens only when two kinds meet often is not drowned in all the others.
type mix struct {
	n, proxies, clients, keys  int
	ttls                       []time.Duration
	maxTTL                     time.Duration
	shared                     bool          // clients of one process share one token
	abandon, toTheEnd, extends float64       // parts of the locks that are never released, or end by themselves, or are extended
	brief                      float64       // part of the locks that are held for a few rounds only
	rounds                     time.Duration // how many times R that is
	poll                       time.Duration

	roundLimit                 time.Duration
	patience                   quorum.Patience
	dialTimeout                time.Duration
	reconnectMin, reconnectMax time.Duration
	tolerance                  time.Duration
	splitRetries               int
	splitDelay                 time.Duration

	latency, jitter time.Duration
	spikes          float64
	spike           time.Duration
	pieces          float64
	pieceGap        time.Duration
	hiccups         float64
	hiccup          time.Duration
	hangUps         float64
	hangUp          time.Duration
	lateWriters     float64 // a goroutine that does not get the processor
	lateWriter      time.Duration
	uneven          float64 // part of the rounds whose requests arrive very unevenly
	// The chances to be struck at a point where it hurts.
	struckAtTake, struckAtYes, struckAtGrant, struckInLesson float64
	betrayals                                                [numBetrayals]bool
	slowCopies                                               float64
	slowCopy                                                 time.Duration
	proxyRate                                                float64
	nodeRate                                                 float64
	sameRate                                                 bool    // all nodes are fast by about that
	always                                                   float64 // part of the nodes that keep everything
	blank                                                    bool    // the fleet is new at the beginning
	gentle                                                   bool    // nodes fail only while a majority of the others is whole
	length                                                   time.Duration
	faults                                                   []fault
}

// maxLife is the longest life of a key.
func (m *mix) maxLife() time.Duration { return quorum.Pad(m.maxTTL) }

// newMix of a seed.
func newMix(l *loop, seed uint64) mix {
	m := mix{
		n:       pick(l, 3, 3, 3, 3, 5, 5, 5, 5, 1, 2, 4, 7),
		proxies: pick(l, 1, 2, 2, 2, 3),
		clients: 2 + l.rng.IntN(5),
		keys:    pick(l, 1, 1, 2, 3),
		shared:  l.maybe(0.15),
		abandon: pick(l, 0.1, 0.3),
		brief:   0.5, rounds: 4, toTheEnd: 0.2, extends: 0.2,
		length: l.between(4*time.Second, 16*time.Second),

		roundLimit:   pick(l, 60*ms, 120*ms, 250*ms, 500*ms),
		dialTimeout:  pick(l, 200*ms, 500*ms),
		reconnectMin: pick(l, 2*ms, 20*ms),
		reconnectMax: pick(l, 50*ms, 500*ms),
		tolerance:    500 * ms,
		splitRetries: pick(l, 0, 3),
		splitDelay:   pick(l, 5*ms, 20*ms),

		latency:   pick(l, 50*time.Microsecond, 200*time.Microsecond, ms),
		jitter:    pick(l, 50*time.Microsecond, 500*time.Microsecond),
		proxyRate: pick(l, 0, 0.0005),
		nodeRate:  pick(l, 0, 0.003),
		always:    pick(l, 0.0, 0.0, 0.5),
		blank:     l.maybe(0.1),
		gentle:    l.maybe(0.6),
	}
	m.patience = quorum.Patience{Timeout: pick(l, 20*ms, 30*ms, 50*ms), Limit: m.roundLimit, Silence: pick(l, 200*ms, 800*ms)}
	m.maxTTL = pick(l, 1500*ms, 4*time.Second)
	m.ttls = pick(l, []time.Duration{m.maxTTL}, []time.Duration{200 * ms, 500 * ms}, []time.Duration{400 * ms, time.Second, m.maxTTL})
	m.poll = pick(l, m.ttls[0]/100, m.ttls[0]/20)
	some := func(part float64) bool { return l.maybe(part) }
	if some(0.4) {
		m.spikes, m.spike = pick(l, 0.005, 0.05), pick(l, 5*ms, 40*ms, 200*ms)
	}
	if some(0.4) {
		m.pieces, m.pieceGap = 0.2, pick(l, ms, 10*ms, 100*ms)
	}
	if some(0.4) {
		m.hiccups, m.hiccup = pick(l, 0.01, 0.1), pick(l, 10*ms, 100*ms, 600*ms)
	}
	if some(0.3) {
		m.hangUps, m.hangUp = 0.2, pick(l, ms, 5*ms, 50*ms)
	}
	if some(0.5) {
		m.slowCopies, m.slowCopy = 0.5, pick(l, 5*ms, 50*ms, 300*ms)
	}
	if some(0.3) {
		m.lateWriters, m.lateWriter = 0.02, pick(l, 2*ms, 20*ms, 100*ms)
	}
	if some(0.4) {
		m.uneven = pick(l, 0.05, 0.3)
	}
	m.faults = chooseFaults(l, &m)
	focuses[seed%uint64(len(focuses))].on(l, &m)
	return m
}

// String is for whoever replays a seed.
func (m *mix) String() string {
	var kinds []string
	for _, f := range m.faults {
		kinds = append(kinds, fmt.Sprintf("%s every %v", f.kind.name, f.mean.Round(10*time.Millisecond)))
	}
	return fmt.Sprintf("N=%d, %d redlockd, %d clients, %d keys, ttls %v (max-ttl %v), R=%v, timeout %v, shared tokens %v, gentle %v; %s",
		m.n, m.proxies, m.clients, m.keys, m.ttls, m.maxTTL, m.roundLimit, m.patience.Timeout, m.shared, m.gentle, strings.Join(kinds, ", "))
}
