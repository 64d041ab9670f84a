package model

// What goes wrong.

func (w *World) fault(k Kind, a, n int) {
	budget := k
	if k == cutDelivered {
		budget = cut
	}
	w.faults[budget]--
	switch k {
	case save:
		c := &w.node[a]
		c.disk = image{c.boot, c.token, c.end, true}
	case restartEmpty:
		w.restart(a, image{})
	case restartOld:
		w.restart(a, w.node[a].disk)
	case restartFull:
		c := &w.node[a]
		w.restart(a, image{c.boot, c.token, c.end, true})
	case flushNode:
		c := &w.node[a]
		c.boot, c.token, c.end = mark{}, 0, 0
	case stepForward:
		w.node[a].off += w.Jump
	case stepBack:
		w.node[a].off -= w.back()
	case cut:
		w.cutLink(a, n, false)
	case cutDelivered:
		w.cutLink(a, n, true)
	case crash:
		w.crash(a)
	case lose:
		w.teacher[a] = teacher{}
	}
}

// restart begins another instance of n with what is on its disk. All its connections are gone; what it had answered
// may still be read.
func (w *World) restart(n int, disk image) {
	c := &w.node[n]
	c.boot, c.token, c.end = disk.boot, disk.token, disk.end
	c.run++
	for p := range w.Proxies {
		l := &w.link[p][n]
		for i := l.carried(); i < int(l.length); i++ {
			l.pipe[i] = flush{}
		}
		l.length = uint8(l.carried())
		l.up = false
		l.ghosts, l.haunt = [ghostLength]ghost{}, 0
		if a := &w.admitter[p]; a.reached&bit(n) != 0 {
			*a = admission{}
		}
	}
	for t := range w.Teachers {
		k := &w.teacher[t]
		if k.active && int(k.node) == n && !w.without(P5OneConnection) {
			*k = teacher{}
		}
		if s := &k.source[n]; s.stage == opened || s.stage == copied {
			*s = scan{}
		}
	}
}

// crash ends a proxy: its rounds, its connections, what it teaches, and what it knows of clocks.
func (w *World) crash(p int) {
	for a := range w.Attempts {
		t := &w.attempt[a]
		switch {
		case int(t.proxy) != p:
		case t.stage == taking, t.stage == dead:
			t.stage, t.told = dead, 255
		case t.stage == extending:
			t.stage = held
		}
	}
	for n := range w.Nodes {
		w.cutLink(p, n, true)
		ghosts, haunt := w.link[p][n].ghosts, w.link[p][n].haunt
		w.link[p][n] = link{run: w.link[p][n].run, ghosts: ghosts, haunt: haunt}
	}
	for t := range w.Teachers {
		if t%w.Proxies == p {
			w.teacher[t] = teacher{}
		}
	}
	w.admitter[p] = admission{}
}

// back is how far a clock steps back: never to where it was before some steps forward. There and back again
// between two looks cannot be seen.
func (w *World) back() int8 {
	if w.Returns {
		return w.Jump
	}
	return 3*w.Jump + 1
}
