package sim

import (
	"io"
	"math/rand/v2"
	"time"
)

// world is all that there is.
type world struct {
	*loop
	mix      mix
	machines []*machine
	proxies  []*proxy
	clients  []*client
	check    *check

	calm       bool          // no more faults
	strict     bool          // see Options
	clockWrong time.Duration // when a clock went wrong last
	backward   bool          // clocks of this world go wrong backward
	lengthened time.Duration // by how much that can have lengthened the life of a key

	tasks, runs, nonces, grants, operations int
	counts                                  map[string]int
}

// faulty: faults may still happen.
func (w *world) faulty() bool { return !w.calm }

func (w *world) count(what string) { w.counts[what]++ }

// Result of one seed.
type Result struct {
	Seed       uint64
	Mix        string
	Operations int           // of clients
	Grants     int           // locks that clients had
	Simulated  time.Duration // true time that went by
	Events     int
	Faults     map[string]int // by kind, and what else is worth to be counted
	Sum        uint64         // the same for the same seed, always
	Violations []Violation
}

// Options of a run.
type Options struct {
	Trace io.Writer // is told what happens, if it is not nil
	// Strict: what is accepted of tokens that are not unique (see check.excuse) is a violation, too.
	Strict bool
}

// Run the world of a seed, until the first violation or to its end.
func Run(seed uint64, o Options) Result {
	l := &loop{rng: rand.New(rand.NewPCG(seed, 0x5ed5)), sum: 14695981039346656037, trace: o.Trace}
	w := &world{loop: l, strict: o.Strict, counts: map[string]int{}}
	w.mix = newMix(l, seed)
	w.say("ALL", "seed %d: %v", seed, &w.mix)
	w.backward = w.maybe(0.3)
	w.check = &check{world: w, windows: map[string][]*window{}, ends: map[lease]time.Duration{}}
	w.populate()
	w.nemesis()
	w.sweeps()
	for w.now < w.mix.length && len(w.check.wrong) == 0 {
		w.step()
	}
	if len(w.check.wrong) == 0 {
		w.calmDown()
	}
	w.close()
	return Result{
		Seed: seed, Mix: w.mix.String(), Operations: w.operations, Grants: w.grants, Simulated: w.now, Events: w.events,
		Faults: w.counts, Sum: w.sum, Violations: w.check.wrong,
	}
}

func (w *world) populate() {
	for i := range w.mix.n {
		m := newMachine(w, i)
		m.always = w.maybe(w.mix.always)
		rate := (w.rng.Float64() - 0.5) * 2 * w.mix.nodeRate
		if w.mix.sameRate {
			rate = w.mix.nodeRate * (0.8 + 0.2*w.rng.Float64())
		}
		m.node.Rate(1 + rate)
		if w.mix.blank {
			m.node.Flush()
		}
		w.machines = append(w.machines, m)
	}
	for i := range w.mix.proxies {
		p := newProxy(w, i)
		w.proxies = append(w.proxies, p)
		p.begin()
	}
	for i := range w.mix.clients {
		c := newClient(w, i)
		w.clients = append(w.clients, c)
		c.begin()
	}
}

func (w *world) sweeps() {
	w.check.sweep()
	w.after(500*time.Millisecond, w.sweeps)
}

// liveWithin is how long after the last fault every lock can be taken again: the longest lock has ended, nodes that nobody could
// teach have waited for that, and one whose clock was wrong has rested (backend's restMax).
func (w *world) liveWithin() time.Duration { return 4*w.mix.maxLife() + 2*restMax + 30*time.Second }

// calmDown stops the faults, and takes every lock once more (R2).
func (w *world) calmDown() {
	w.heal()
	w.calm = true
	left := w.mix.keys
	for k := range w.mix.keys {
		c := newClient(w, 100+k)
		w.clients = append(w.clients, c)
		c.alive = true
		c.start(func(t *task) { c.takeAtLast(t, k); left-- })
	}
	limit := w.now + w.liveWithin()
	for left > 0 && w.now < limit && len(w.check.wrong) == 0 {
		w.step()
	}
	if left > 0 && len(w.check.wrong) == 0 {
		w.check.fail(LawLive, "%d of %d keys could not be taken within %v after the last fault", left, w.mix.keys, w.liveWithin())
	}
	for end := w.now + 2*w.mix.maxLife(); w.now < end && len(w.check.wrong) == 0; {
		w.step()
	}
	w.check.sweep()
}

// close ends whatever still runs.
func (w *world) close() {
	for _, p := range w.proxies {
		p.end()
	}
	for _, c := range w.clients {
		c.end()
	}
}
