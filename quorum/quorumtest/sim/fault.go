package sim

import (
	"time"
)

// kind of fault.
type kind struct {
	name string
	// mean times between two of it are chosen between these.
	often, seldom time.Duration
	// strike says whether it did.
	strike func(w *world) bool
}

// fault of a mix.
type fault struct {
	kind kind
	mean time.Duration
}

const ms = time.Millisecond

// The kinds of faults. What strikes at a point of the code instead (a pause after T1, a client that hangs up) is in the mix.
var kinds = []kind{
	{"slow node", 300 * ms, 3 * time.Second, (*world).slowNode},
	{"stall", 100 * ms, 2 * time.Second, (*world).stall},
	{"cut", 100 * ms, 2 * time.Second, (*world).cut},
	{"partition", 500 * ms, 4 * time.Second, (*world).partition},
	{"hang", 300 * ms, 3 * time.Second, (*world).hang},
	{"restart empty", 400 * ms, 4 * time.Second, func(w *world) bool { return w.restart(nothing) }},
	{"restart with a snapshot", 400 * ms, 4 * time.Second, func(w *world) bool { return w.restart(snapshot) }},
	{"restart with all", 400 * ms, 4 * time.Second, func(w *world) bool { return w.restart(complete) }},
	{"snapshot", 20 * ms, 1 * time.Second, (*world).save},
	{"flush", 400 * ms, 4 * time.Second, (*world).flush},
	{"all forget", 2 * time.Second, 8 * time.Second, (*world).allForget},
	{"clock step", 2 * time.Second, 6 * time.Second, (*world).stepClock},
	{"clock rate", 2 * time.Second, 6 * time.Second, (*world).wrongRate},
	{"node refuses writes", 500 * ms, 4 * time.Second, (*world).refuse},
	{"redlockd pause", 200 * ms, 3 * time.Second, (*world).pauseProxy},
	{"redlockd crash", 800 * ms, 5 * time.Second, (*world).crashProxy},
	{"redlockd wall clock set", 2 * time.Second, 10 * time.Second, (*world).setWall},
	{"client crash", 200 * ms, 3 * time.Second, (*world).crashClient},
}

// chooseFaults leaves out most kinds.
func chooseFaults(l *loop, m *mix) []fault {
	var chosen []fault
	part := pick(l, 0.15, 0.3, 0.5)
	has := map[string]bool{}
	for _, k := range kinds {
		if k.name == "all forget" && l.maybe(0.7) || k.name == "snapshot" && !has["restart with a snapshot"] || !l.maybe(part) && k.name != "snapshot" {
			continue
		}
		// A step that is smaller than clock-tolerance is not seen by a redlockd that was started behind it, and
		// a clock that runs wrong makes such steps: both are accepted.
		if k.name == "clock rate" && l.maybe(0.5) || k.name == "redlockd crash" && has["clock rate"] {
			continue
		}
		has[k.name] = true
		mean := l.between(k.often, k.seldom)
		if l.maybe(0.3) {
			mean = k.often
		}
		chosen = append(chosen, fault{k, mean})
	}
	return chosen
}

// nemesis lets the faults of the mix happen.
func (w *world) nemesis() {
	for _, f := range w.mix.faults {
		var next func()
		next = func() {
			if !w.faulty() {
				return
			}
			if f.kind.strike(w) {
				w.count(f.kind.name)
			}
			w.after(w.about(f.mean), next)
		}
		w.after(w.about(f.mean), next)
	}
}

// victim is a node to strike: in a gentle world only while a majority of the others is whole.
func (w *world) victim() *machine {
	m := pick(w.loop, w.machines...)
	if !w.mix.gentle {
		return m
	}
	whole := 0
	for _, o := range w.machines {
		if o != m && o.up && !o.hung && len(o.cutOff) == 0 && o.vouched() {
			whole++
		}
	}
	if whole < w.mix.n/2+1 && w.mix.n > 1 {
		return nil
	}
	return m
}

// awhile is how long a fault lasts: mostly short.
func (w *world) awhile() time.Duration {
	return w.about(pick(w.loop, 5*ms, 30*ms, 150*ms, 800*ms))
}

// allForget: the whole fleet loses its memory, one node after the other.
func (w *world) allForget() bool {
	for _, m := range w.machines {
		w.after(w.between(0, 15*ms), func() {
			if m.up {
				m.flush()
			}
		})
	}
	return true
}

func (w *world) slowNode() bool {
	m := pick(w.loop, w.machines...)
	m.slow = pick(w.loop, ms, 10*ms, 40*ms, 150*ms)
	w.say(m.name, "is slow, by %v", m.slow)
	w.after(w.awhile(), func() { m.slow = 0 })
	return true
}

func (w *world) someSocket() *socket {
	m := pick(w.loop, w.machines...)
	if len(m.sockets) == 0 {
		return nil
	}
	return pick(w.loop, m.sockets...)
}

func (w *world) stall() bool {
	s := w.someSocket()
	if s == nil || !s.open {
		return false
	}
	d := w.awhile()
	way, where := &s.up, "to"
	if w.maybe(0.5) {
		way, where = &s.down, "from"
	}
	w.say(s.node.name, "nothing gets through %s it on a connection of %s for %v", where, s.owner.name, d)
	s.block(way, d)
	return true
}

func (w *world) cut() bool {
	s := w.someSocket()
	if s == nil || !s.open {
		return false
	}
	w.say(s.node.name, "loses a connection of %s", s.owner.name)
	s.cut()
	return true
}

func (w *world) partition() bool {
	m, p := w.victim(), pick(w.loop, w.proxies...)
	if m == nil || m.cutOff[p.process] {
		return false
	}
	d := w.awhile() + w.awhile()
	w.say(m.name, "is cut off from %s for %v", p.name, d)
	m.cutOff[p.process] = true
	silent := w.maybe(0.5)
	for _, s := range append([]*socket(nil), m.sockets...) {
		switch {
		case s.owner != p.process:
		case silent:
			s.block(&s.up, d)
			s.block(&s.down, d)
		default:
			s.cut()
		}
	}
	w.after(d, func() { delete(m.cutOff, p.process) })
	return true
}

func (w *world) hang() bool {
	m := w.victim()
	if m == nil || m.hung || !m.up {
		return false
	}
	m.hang(w.awhile() + w.awhile())
	return true
}

func (w *world) restart(with memory) bool {
	m := w.victim()
	if m == nil || !m.up {
		return false
	}
	m.restart(w.awhile(), with)
	return true
}

func (w *world) save() bool {
	m := pick(w.loop, w.machines...)
	if m.up {
		m.node.Save()
	}
	return m.up
}

func (w *world) flush() bool {
	m := w.victim()
	if m == nil || !m.up || m.always {
		return false
	}
	m.flush()
	return true
}

// wrongClock: at most a minority of the clocks is wrong at a time, and none goes there and back: what is accepted, see README.
func (w *world) wrongClock() *machine {
	if w.now-w.clockWrong < 8*time.Second && w.clockWrong > 0 {
		return nil
	}
	m := pick(w.loop, w.machines...)
	if !m.up || w.mix.n < 3 { // one of two is not a minority
		return nil
	}
	w.clockWrong = w.now
	w.check.stepped = true
	return m
}

func (w *world) stepClock() bool {
	m := w.wrongClock()
	if m == nil {
		return false
	}
	d := pick(w.loop, 40*ms, 200*ms, 450*ms, time.Second, 5*time.Second)
	if w.canCrash() {
		d = pick(w.loop, time.Second, 2*time.Second, 5*time.Second)
	}
	if w.backward {
		d = -d
		w.lengthened -= 2 * d // and once more when it was copied
	}
	w.say(m.name, "its clock steps by %v", d)
	m.node.Step(d)
	return true
}

func (w *world) canCrash() bool {
	for _, f := range w.mix.faults {
		if f.kind.name == "redlockd crash" {
			return true
		}
	}
	return false
}

func (w *world) wrongRate() bool {
	m := w.wrongClock()
	if m == nil {
		return false
	}
	rate, d := pick(w.loop, 1.02, 1.1, 1.5, 3), w.about(2*time.Second)
	if w.backward {
		rate = pick(w.loop, 0.98, 0.9, 0.5, 0)
		w.lengthened += 2 * d
	}
	w.say(m.name, "its clock runs %g times as fast for %v", rate, d)
	m.node.Rate(rate)
	w.after(d, func() { m.node.Rate(1) })
	return true
}

func (w *world) refuse() bool {
	m := w.victim()
	if m == nil {
		return false
	}
	w.say(m.name, "refuses to write")
	m.node.Refuse("MISCONF Errors writing to the AOF file: No space left on device")
	w.after(w.awhile(), func() { m.node.Refuse("") })
	return true
}

func (w *world) pauseProxy() bool {
	pick(w.loop, w.proxies...).pause(w.awhile())
	return true
}

func (w *world) crashProxy() bool {
	p := pick(w.loop, w.proxies...)
	if !p.alive {
		return false
	}
	p.crash()
	w.after(w.awhile(), func() {
		if !p.alive {
			p.begin()
		}
	})
	return true
}

func (w *world) setWall() bool {
	p := pick(w.loop, w.proxies...)
	p.set += pick(w.loop, -10*time.Second, -100*ms, 100*ms, 10*time.Second)
	w.say(p.name, "its wall clock is set")
	return true
}

func (w *world) crashClient() bool {
	c := pick(w.loop, w.clients...)
	if !c.alive {
		return false
	}
	c.crash()
	return true
}

// heal everything.
func (w *world) heal() {
	w.say("ALL", "the faults stop")
	for _, m := range w.machines {
		m.resume()
		m.startUp(nothing)
		m.slow = 0
		clear(m.cutOff)
		m.node.Refuse("")
		m.node.Rate(1)
		for _, s := range m.sockets {
			s.up.blocked, s.down.blocked = 0, 0
		}
	}
	for _, p := range w.proxies {
		p.paused, p.set = min(p.paused, w.now), 0
		if !p.alive {
			p.begin()
		}
	}
}
