package model

import (
	"math/rand/v2"
	"slices"
)

// Explore takes short random walks, each from a place where an earlier one has been, rarely visited places
// first. A place is a state without its times and without what is on its way. That finds long chains of
// improbable steps, where walks from the beginning nearly always miss one of them.
func Explore(s *Scenario, seed uint64, steps int) Result {
	e := &explorer{random: rand.New(rand.NewPCG(seed, 2)), places: map[place]*spot{}, list: make([]Action, 0, 256)}
	e.reach(NewWorld(s), nil, nil)
	for e.Steps < steps {
		e.Walks++
		from := e.pick()
		from.visits++
		like := from.like
		if like == nil || e.random.IntN(2) == 0 {
			like = likings(s, e.random)
		}
		if trail := e.walk(from, like); trail != nil {
			e.Trace = trail.actions()
			break
		}
	}
	e.States = len(e.spots)
	return e.Result
}

// leg is how far a walk goes before another place is picked.
const leg = 40

type explorer struct {
	Result
	random *rand.Rand
	places map[place]*spot
	spots  []*spot
	list   []Action
}

// spot is a state that stands for its place.
type spot struct {
	world  World
	trail  *trail
	like   *liking // of the walk that came by
	visits int     // walks that began here
	seen   int     // walks that came by
}

type trail struct {
	Action
	before *trail
}

func (t *trail) actions() []Action {
	var all []Action
	for ; t != nil; t = t.before {
		all = append(all, t.Action)
	}
	slices.Reverse(all)
	return all
}

// pick prefers, of a few spots, the one from which the fewest walks began.
func (e *explorer) pick() *spot {
	best := e.spots[e.random.IntN(len(e.spots))]
	for range 3 {
		if s := e.spots[e.random.IntN(len(e.spots))]; s.visits < best.visits {
			best = s
		}
	}
	return best
}

func (e *explorer) walk(from *spot, like *liking) *trail {
	w, t := from.world, from.trail
	last := w.place()
	for range leg {
		e.list = w.Actions(e.list[:0])
		if len(e.list) == 0 {
			return nil
		}
		c := like.choose(&w, e.list, e.random)
		e.see(&w, c)
		t = &trail{c, t}
		if w.double != 0 {
			return t
		}
		if here := w.place(); here != last {
			e.reach(&w, t, like)
			last = here
		}
	}
	return nil
}

// reach notes that w was come by. Of all the states at a place, each has the same chance to stand for it.
func (e *explorer) reach(w *World, t *trail, like *liking) {
	here := w.place()
	s := e.places[here]
	if s == nil {
		s = &spot{}
		e.places[here] = s
		e.spots = append(e.spots, s)
	}
	s.seen++
	if e.random.IntN(s.seen) == 0 {
		s.world, s.trail, s.like = *w, t, like
	}
}

// place is what Explore tells states apart by.
type place struct {
	now     int8
	attempt [maxAttempts]struct {
		stage stage
		sent  uint8
		yes   uint8
		holds bool
		late  bool
	}
	node [maxNodes]struct {
		boot  uint8
		token uint8
	}
	teacher [maxTeachers]struct{ node, merged, copied uint8 }
	admit   [maxProxies]admitStage
	doubt   [maxProxies][maxNodes]doubting
	faults  [kinds]uint8
}

func (w *World) place() place {
	var p place
	p.now = w.now / 2
	for a := range w.Attempts {
		t, x := &w.attempt[a], &p.attempt[a]
		x.stage, x.holds = t.stage, w.holds(a)
		if t.open() {
			x.sent, x.yes, x.late = t.sent, t.yes, w.now-t.began >= w.Limit
		}
	}
	for n := range w.Nodes {
		c, x := &w.node[n], &p.node[n]
		x.token = c.token
		switch {
		case c.boot.voucher(c.run):
			x.boot = 2
		case c.boot.nonce != 0:
			x.boot = 1
		}
	}
	for t := range w.Teachers {
		k, x := &w.teacher[t], &p.teacher[t]
		if k.active {
			x.node = k.node + 1
		}
		for n := range w.Nodes {
			switch k.source[n].stage {
			case copied, sound:
				x.copied |= bit(n)
			case merged:
				x.merged |= bit(n)
			}
		}
	}
	for p1 := range w.Proxies {
		p.admit[p1] = w.admitter[p1].stage
	}
	for p1 := range w.Proxies {
		for n := range w.Nodes {
			p.doubt[p1][n] = w.link[p1][n].doubting
		}
	}
	p.faults = w.faults
	return p
}

// Hunt looks for a double grant by both kinds of walks in turn, beginning anew again and again: a search
// that has taken a wrong turn seldom finds back. The turns become longer.
func Hunt(s *Scenario, seed uint64, steps int) Result {
	var r Result
	turn := 25_000
	for i := uint64(0); r.Steps < steps && r.Trace == nil; i++ {
		search := Explore
		if i%3 == 2 {
			search = Walk
		}
		o := search(s, seed<<16+i, min(turn, steps-r.Steps))
		r.add(o)
		r.Trace = o.Trace
		if i%6 == 5 {
			turn += turn / 2
		}
	}
	return r
}
