package model

import (
	"hash/maphash"
	"math/rand/v2"
)

// Result is what a search saw.
type Result struct {
	Walks, Steps, States int
	Grants, Vouched      int
	// Trace leads to a double grant. Empty: none was found.
	Trace []Action
	// Exhausted says that there are no more states within the scenario.
	Exhausted bool
}

func (r *Result) add(o Result) {
	r.Walks += o.Walks
	r.Steps += o.Steps
	r.States += o.States
	r.Grants += o.Grants
	r.Vouched += o.Vouched
}

// Walk takes random walks through s, up to a number of steps, until one ends in a double grant. Each walk has its own
// likings, so that some do a thing often and others never.
func Walk(s *Scenario, seed uint64, steps int) Result {
	var r Result
	random := rand.New(rand.NewPCG(seed, 1))
	list := make([]Action, 0, 256)
	path := make([]Action, 0, 512)
	for r.Steps < steps {
		like := likings(s, random)
		w := NewWorld(s)
		path = path[:0]
		r.Walks++
		for w.double == 0 {
			list = w.Actions(list[:0])
			if len(list) == 0 {
				break
			}
			c := like.choose(w, list, random)
			r.see(w, c)
			path = append(path, c)
		}
		if w.double != 0 {
			r.Trace = append([]Action(nil), path...)
			return r
		}
	}
	return r
}

// see takes a step and counts what came of it.
func (r *Result) see(w *World, c Action) {
	r.Steps++
	stage := attempt{}.stage
	var n uint8
	switch c.Kind {
	case read:
		n = w.link[c.a][c.n].pipe[0].attempt
		stage = w.attempt[n].stage
	case vouch, vouchLate, vouchWhole:
		n = w.teacher[c.a].node
	}
	w.Do(c)
	switch c.Kind {
	case read:
		if stage != held && w.attempt[n].stage == held {
			r.Grants++
		}
	case vouch, vouchLate, vouchWhole:
		if w.node[n].boot.voucher(w.node[n].run) {
			r.Vouched++
		}
	}
}

// liking is how much a walk likes each kind of step, and each proxy's way to each node.
type liking struct {
	kind [kinds]int
	way  [maxProxies][maxNodes]int
	node [maxNodes]int
	tick float64 // the share of ticks
}

var weights = [kinds]int{
	start: 4, send: 40, giveUp: 1, lengthen: 6, letGo: 1, after: 10, ask: 8, tellDoubt: 20,
	carryOut: 40, read: 30, haunted: 10, connect: 20, readmit: 20, openScan: 20, copyKeys: 20, closeScan: 20,
	merge: 20, vouch: 20, vouchLate: 10, vouchWhole: 10, admit: 20, pass: 10, save: 4, restartEmpty: 3, restartOld: 6,
	restartFull: 3, flushNode: 3, stepForward: 3, stepBack: 2, cut: 2, cutDelivered: 2, crash: 1, lose: 1,
}

func likings(s *Scenario, random *rand.Rand) *liking {
	var l liking
	factor := [...]int{1, 2, 4, 8, 16}
	for k := range l.kind {
		l.kind[k] = weights[k] * factor[random.IntN(len(factor))]
		if Kind(k) >= save && random.IntN(2) == 0 {
			l.kind[k] = 0
		}
	}
	l.tick = []float64{0.02, 0.04, 0.08, 0.16}[random.IntN(4)]
	way := [...]int{1, 4, 16, 16}
	for n := range s.Nodes {
		l.node[n] = way[random.IntN(len(way))]
		for p := range s.Proxies {
			l.way[p][n] = way[random.IntN(len(way))]
		}
	}
	return &l
}

func (l *liking) weight(w *World, c Action) int {
	much := l.kind[c.Kind]
	switch c.Kind {
	case ask:
		if w.link[c.a][c.n].known != (mark{}) {
			much /= 8
		}
		return much * l.way[c.a][c.n]
	case send:
		return much * l.way[w.attempt[c.a].proxy][c.n]
	case carryOut, read, haunted, connect:
		return much * l.way[c.a][c.n]
	case openScan, copyKeys, closeScan, merge:
		return much * l.node[c.n]
	case giveUp:
		return much
	}
	return much * 16
}

func (l *liking) choose(w *World, list []Action, random *rand.Rand) Action {
	if list[0].Kind == tick && random.Float64() < l.tick {
		return list[0]
	}
	sum := 0
	for _, c := range list {
		sum += l.weight(w, c)
	}
	if sum == 0 {
		return list[0]
	}
	at := random.IntN(sum)
	for _, c := range list {
		if at -= l.weight(w, c); at < 0 {
			return c
		}
	}
	panic("model: weights do not add up")
}

// Exhaust visits every state of s, depth first, up to a number of states. States are told apart by 64 bits of
// their hash: with a million states one is overlooked once in forty million searches.
func Exhaust(s *Scenario, limit int) Result {
	e := &exhaustion{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, limit: limit}
	e.Exhausted = true
	e.visit(NewWorld(s))
	return e.Result
}

type exhaustion struct {
	Result
	seed  maphash.Seed
	seen  map[uint64]struct{}
	limit int
	path  []Action
}

func (e *exhaustion) visit(w *World) {
	key := maphash.Comparable(e.seed, w.State)
	if _, old := e.seen[key]; old {
		return
	}
	if len(e.seen) >= e.limit {
		e.Exhausted = false
		return
	}
	e.seen[key] = struct{}{}
	e.States = len(e.seen)
	for _, c := range w.Actions(nil) {
		next := *w
		e.path = append(e.path, c)
		e.see(&next, c)
		if next.double != 0 {
			e.Trace = append([]Action(nil), e.path...)
			return
		}
		e.visit(&next)
		if e.Trace != nil {
			return
		}
		e.path = e.path[:len(e.path)-1]
	}
}

// Shorten takes out of a trace whatever is not needed for the double grant.
func Shorten(s *Scenario, trace []Action) []Action {
	for shorter := true; shorter; {
		shorter = false
		for width := 8; width > 0; width /= 2 {
			for i := len(trace) - width; i >= 0; i-- {
				tried := append(append([]Action(nil), trace[:i]...), trace[i+width:]...)
				if done := Replay(s, tried); done != nil {
					trace, shorter = done, true
					i = min(i, len(trace)-width+1)
				}
			}
		}
	}
	return trace
}

// Replay takes the steps of a trace, leaving out those that cannot be taken, and returns those it
// took if they lead to a double grant.
func Replay(s *Scenario, trace []Action) []Action {
	w := NewWorld(s)
	var took []Action
	for _, c := range trace {
		if !w.can(c) {
			continue
		}
		w.Do(c)
		took = append(took, c)
		if w.double != 0 {
			return took
		}
	}
	return nil
}

func (w *World) can(c Action) bool {
	for _, o := range w.Actions(nil) {
		if o == c {
			return true
		}
	}
	return false
}
