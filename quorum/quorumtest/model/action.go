package model

// What can happen next.

// Kind of a step.
type Kind uint8

// The kinds. The last ones are faults, each with a number of times that it may happen.
const (
	tick Kind = iota
	start
	send
	giveUp
	lengthen
	letGo
	after
	ask
	tellDoubt
	carryOut
	read
	haunted
	connect
	readmit
	openScan
	copyKeys
	closeScan
	merge
	vouch
	vouchLate
	vouchWhole
	admit
	pass
	save
	restartEmpty
	restartOld
	restartFull
	flushNode
	stepForward
	stepBack
	cut
	cutDelivered
	crash
	lose
	kinds
)

// Action is one step: who, and to whom. What a and n are depends on the kind: an attempt, a proxy or a
// teacher; a node or a proxy.
type Action struct {
	Kind Kind
	a, n uint8
}

// Actions appends what can happen in w to list.
func (w *World) Actions(list []Action) []Action {
	if w.over() {
		return list
	}
	add := func(can bool, k Kind, a, n int) {
		if can {
			list = append(list, Action{k, uint8(a), uint8(n)})
		}
	}
	add(w.now < w.Horizon, tick, 0, 0)
	for a := range w.Attempts {
		w.attemptActions(a, add)
	}
	for p := range w.Proxies {
		for n := range w.Nodes {
			w.linkActions(p, n, add)
		}
		add(w.Admit && w.mayAdmit(p), admit, p, 0)
		add(w.without(P11AllNodes) && w.mayPass(p), pass, p, 0)
		add(w.faults[crash] > 0, crash, p, 0)
	}
	for t := range w.Teachers {
		w.teacherActions(t, add)
	}
	for n := range w.Nodes {
		w.nodeActions(n, add)
	}
	return list
}

// over says whether there can be no two holders any more, or nobody is left who could be the second.
func (w *World) over() bool {
	holders, hopes := 0, 0
	for a := range w.Attempts {
		t := &w.attempt[a]
		hope := t.stage == idle || t.open() && w.now-t.began < w.within(t.stage) ||
			t.stage == held && t.extends > 0 && w.now < t.until
		switch {
		case t.excused:
		case hope:
			hopes++
		case w.holds(a):
			holders++
		}
	}
	return hopes == 0 || hopes+holders < 2
}

func (w *World) attemptActions(a int, add func(bool, Kind, int, int)) {
	t := &w.attempt[a]
	p := int(t.proxy)
	switch t.stage {
	case idle:
		if a == 0 || w.attempt[a-1].stage != idle { // all alike
			for p := range w.Proxies {
				add(true, start, a, p)
			}
		}
		return
	case taking, extending:
		for n := range w.Nodes {
			add(!w.Lean && t.sent&bit(n) == 0 && w.room(p, n) && w.sendable(p, n), send, a, n)
		}
		add(!w.Lean || w.Undos, giveUp, a, 0)
		return
	case held:
		add(t.extends > 0 && w.now < t.until, lengthen, a, 0)
		add(w.Releases && w.now < t.until, letGo, a, 0)
	}
	for n := range w.Nodes {
		add(w.owes(a, n), after, a, n)
	}
}

func (w *World) linkActions(p, n int, add func(bool, Kind, int, int)) {
	l := &w.link[p][n]
	same := l.run == w.node[n].run
	add(w.room(p, n) && l.length == 0 && l.asked <= w.now && (!w.Quiet || w.news(p, n)), ask, p, n)
	add(l.doubting == mustTell && w.room(p, n), tellDoubt, p, n)
	add(l.carried() < int(l.length), carryOut, p, n)
	add(l.carried() > 0, read, p, n)
	add(l.haunt > 0 && same, haunted, p, n)
	add(!l.up || !same, connect, p, n)
	add(w.faults[cut] > 0 && l.up, cut, p, n)
	add(w.faults[cut] > 0 && l.up && l.length > 0, cutDelivered, p, n)
}

// news says whether a tail would show p something of n that it does not know.
func (w *World) news(p, n int) bool {
	l, c := &w.link[p][n], &w.node[n]
	boot := c.boot
	if !boot.voucher(c.run) {
		boot = mark{}
	}
	return boot != l.known || l.based && (c.off < l.lo || c.off > l.hi || l.lo != l.hi)
}

func (w *World) teacherActions(t int, add func(bool, Kind, int, int)) {
	k := &w.teacher[t]
	if !k.active {
		for n := range w.Nodes {
			c := &w.node[n]
			add(!c.boot.voucher(c.run) && w.nonce < w.Begins, readmit, t, n)
		}
		return
	}
	for n := range w.Nodes {
		if n == int(k.node) {
			continue
		}
		switch k.source[n].stage {
		case unread:
			add(w.mayOpen(t, n), openScan, t, n)
		case opened:
			add(true, copyKeys, t, n)
		case copied:
			add(true, closeScan, t, n)
		case sound:
			add(true, merge, t, n)
		}
	}
	add(w.taught(t), vouch, t, 0)
	add(w.LongWait && w.now-k.began >= w.TTL, vouchLate, t, 0)
	add(k.whole, vouchWhole, t, 0)
	add(w.faults[lose] > 0, lose, t, 0)
}

func (w *World) nodeActions(n int, add func(bool, Kind, int, int)) {
	if w.FaultNodes != 0 && w.FaultNodes&bit(n) == 0 {
		return
	}
	durable := w.Durable&bit(n) != 0
	for k := save; k <= stepBack; k++ {
		can := w.faults[k] > 0
		switch k {
		case save:
			can = can && !durable
		case restartEmpty:
			can = can && !durable
		case restartOld:
			can = can && !durable && w.node[n].disk.taken
		case restartFull:
			can = can && durable
		}
		add(can, k, n, 0)
	}
}

// mayPass: enough nodes for a majority were reached, or can still be.
func (w *World) mayPass(p int) bool {
	a := &w.admitter[p]
	if a.stage == notAdmitting {
		return w.nonce < w.Begins
	}
	if a.stage != beginning {
		return a.reached&bit(int(a.next)) == 0
	}
	return count(a.reached)+w.Nodes-1-int(a.next) >= w.majority()
}

// Do takes one step.
func (w *World) Do(c Action) {
	a, n := int(c.a), int(c.n)
	switch c.Kind {
	case tick:
		w.now++
	case start:
		w.start(a, n)
	case send:
		w.sendRound(a, n)
	case giveUp:
		w.giveUp(a)
	case lengthen:
		w.lengthen(a)
	case letGo:
		w.letGo(a)
	case after:
		w.after(a, n)
	case ask:
		w.link[a][n].asked = w.now + 1
		w.send(a, n, flush{})
	case tellDoubt:
		w.tellDoubt(a, n)
	case carryOut:
		w.carryOut(a, n)
	case read:
		w.read(a, n)
	case haunted:
		w.haunted(a, n)
	case connect:
		w.connect(a, n)
	default:
		w.doNode(c.Kind, a, n)
	}
	w.purge()
	w.look()
}

// doNode takes a step of a teacher or an admission, or a fault.
func (w *World) doNode(k Kind, a, n int) {
	switch k {
	case readmit:
		w.readmit(a, n)
	case openScan:
		w.openScan(a, n)
	case copyKeys:
		w.copyKeys(a, n)
	case closeScan:
		w.closeScan(a, n)
	case merge:
		w.merge(a, n)
	case vouch, vouchLate, vouchWhole:
		w.vouch(a)
	case admit:
		w.admit(a)
	case pass:
		w.pass(a)
	default:
		w.fault(k, a, n)
	}
}
