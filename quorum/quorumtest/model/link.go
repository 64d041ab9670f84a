package model

// The pipe between a proxy and a node: what departs, what the node carries out, what is read.

// room says whether p can send n a flush.
func (w *World) room(p, n int) bool {
	l := &w.link[p][n]
	return l.up && l.length < pipeLength
}

// sendable says whether takes and extends may be sent (P2).
func (w *World) sendable(p, n int) bool {
	l := &w.link[p][n]
	return l.known != mark{} || w.without(P2KnownBefore)
}

// send puts a request and its tail into the pipe. What is known now is what a yes is measured by.
func (w *World) send(p, n int, f flush) {
	l := &w.link[p][n]
	f.sent = w.now
	if f.op != unvouch {
		f.known = l.known
	}
	l.pipe[l.length] = f
	l.length++
}

// carried is how many flushes at the front of the pipe the node has done with.
func (l *link) carried() int {
	for i := range int(l.length) {
		if l.pipe[i].done < commands {
			return i
		}
	}
	return int(l.length)
}

// carryOut lets n do the next step of what p sent it: a command, or as much as scenario.Split keeps together.
func (w *World) carryOut(p, n int) {
	l := &w.link[p][n]
	f := &l.pipe[l.carried()]
	for {
		w.command(n, f, w.order(f.done))
		f.done++
		switch {
		case f.done == commands, w.Split == EachApart:
			return
		case w.Split == TailApart && f.done == 1:
			return
		}
	}
}

// order says which command of a flush is the i-th: 0 the request, 1 GET boot, 2 TIME.
func (w *World) order(i uint8) uint8 {
	switch {
	case w.without(P2Tail):
		return [commands]uint8{1, 0, 2}[i]
	case !w.without(TimeFirst) && i > 0:
		return 3 - i
	}
	return i
}

func (w *World) command(n int, f *flush, command uint8) {
	c := &w.node[n]
	switch command {
	case 0:
		f.reply = w.request(n, f.op, f.attempt, f.left, f.known)
	case 1:
		f.boot = c.boot
	case 2:
		f.off, f.at = c.off, w.now
	}
}

// request is one command at a node. A blocker answers a release and an extend with neither yes nor no.
func (w *World) request(n int, o op, a uint8, left int8, known mark) reply {
	c := &w.node[n]
	clock := w.now + c.off
	mine := c.token == a+1
	switch o {
	case take:
		if c.token != 0 {
			return no
		}
		c.token, c.end = a+1, clock+w.TTL
		if known.run != 0 && c.boot == known {
			w.attempt[a].standing |= bit(n)
		}
		return yes
	case extend:
		if mine {
			c.end = clock + w.TTL
			return yes
		}
	case release, undo:
		if mine {
			c.token, c.end = 0, 0
		}
	case topUp:
		if c.token == 0 || mine && c.end < clock+left {
			c.token, c.end = a+1, clock+left
		}
	case unvouch:
		if c.boot == known {
			c.boot = mark{scar: true}
		}
	case unvouchAny:
		if c.boot.run != 0 {
			c.boot = mark{scar: true}
		}
	}
	return unknown
}

// read takes the next answer from n. A yes is counted, or not, before anything is learnt from the tail.
func (w *World) read(p, n int) {
	l := &w.link[p][n]
	f := l.pipe[0]
	copy(l.pipe[:], l.pipe[1:])
	l.pipe[pipeLength-1] = flush{}
	l.length--

	lo, hi := w.offset(&f)
	stepped := w.stepped(l, f.boot, lo, hi)
	counts := f.reply == yes && w.counts(l, &f, stepped)
	w.learn(p, n, &f, stepped, lo, hi)
	if counts {
		w.count(n, &f)
	}
}

// offset bounds the node's clock minus ours: it read it after the flush departed, and before now.
func (w *World) offset(f *flush) (lo, hi int8) {
	if !w.Interval {
		return f.off, f.off
	}
	return f.off + f.at - w.now, f.off + f.at - f.sent
}

// stepped says whether a tail shows a clock step: against the kept baseline, or, where there is none yet,
// against the offset in the mark.
func (w *World) stepped(l *link, boot mark, lo, hi int8) bool {
	switch {
	case w.without(P2Step):
		return false
	case l.based:
		return hi < l.lo || l.hi < lo
	}
	return w.misdated(boot, l.run, lo, hi)
}

// misdated says whether a clock is not what the mark says that it was. Steps below the tolerance do not show.
func (w *World) misdated(boot mark, run uint8, lo, hi int8) bool {
	if w.Tolerant || w.without(MarkOffset) || w.without(P2Step) {
		return false
	}
	return boot.voucher(run) && (boot.off < lo || hi < boot.off)
}

// counts says whether a yes counts (P2).
func (w *World) counts(l *link, f *flush, stepped bool) bool {
	switch {
	case stepped || l.doubting != trusting:
		return false
	case w.without(P2TailAlone), w.without(P2KnownBefore):
		return f.boot.voucher(l.run)
	case f.known == mark{} || f.known != l.known:
		return false
	}
	return f.boot == f.known || w.without(P2StillThere)
}

// learn takes what a tail shows of the node: the value that vouches for it, and its clock.
func (w *World) learn(p, n int, f *flush, stepped bool, lo, hi int8) {
	l := &w.link[p][n]
	if l.doubting == told && (f.op == unvouch || f.op == unvouchAny) {
		l.doubting = wantFresh
	}
	switch {
	case l.doubting != trusting:
		w.doubtOn(l, f, stepped, lo, hi)
	case stepped:
		w.doubtFirst(l, f, lo, hi)
	default:
		l.narrow(lo, hi)
		w.accept(l, f)
	}
}

// accept takes the value that a tail shows. A new one is compared with the baseline as it is by now: the first
// look may have been too slow to show a step.
func (w *World) accept(l *link, f *flush) {
	switch {
	case !f.boot.voucher(l.run):
		l.known = mark{}
	case f.boot == l.known:
	case l.lo != l.hi && !w.without(NarrowBaseline):
		l.known = mark{}
	case w.misdated(f.boot, l.run, l.lo, l.hi):
		w.doubtFirst(l, f, l.lo, l.hi)
	default:
		l.known = f.boot
	}
}

func (l *link) narrow(lo, hi int8) {
	if l.based {
		lo, hi = max(lo, l.lo), min(hi, l.hi)
	}
	l.based, l.lo, l.hi = true, lo, hi
}

// doubtFirst: a step was seen. Nothing counts until the value seen with it is gone and another is read (P4).
func (w *World) doubtFirst(l *link, f *flush, lo, hi int8) {
	if w.without(P4Unvouch) {
		l.based, l.lo, l.hi = true, lo, hi
		if f.boot.voucher(l.run) {
			l.known = f.boot
		}
		return
	}
	l.known, l.doubting, l.doubt = mark{}, mustTell, mark{}
	if f.boot.voucher(l.run) {
		l.doubt = f.boot
	}
	if !w.without(StepsWhileDoubting) {
		l.based, l.lo, l.hi = true, lo, hi
	}
}

// doubtOn: a tail read in doubt. A further step puts the value seen with it in doubt as well.
func (w *World) doubtOn(l *link, f *flush, stepped bool, lo, hi int8) {
	fresh := f.boot.voucher(l.run) && f.boot != l.doubt
	if stepped && !w.without(StepsWhileDoubting) || fresh && w.misdated(f.boot, l.run, lo, hi) {
		w.doubtFirst(l, f, lo, hi)
		return
	}
	if fresh && l.doubting == wantFresh {
		l.doubting, l.doubt = trusting, mark{}
		l.based, l.lo, l.hi = true, lo, hi
		w.accept(l, f)
	}
}

// tellDoubt sends the unvouch.
func (w *World) tellDoubt(p, n int) {
	l := &w.link[p][n]
	f := flush{op: unvouch}
	f.known = l.doubt
	if l.doubt == (mark{}) {
		f.op = unvouchAny
	}
	l.doubting = told
	w.send(p, n, f)
}

// connect opens a new connection. What the old one was asked may still be carried out, unless it is
// ended on the node first.
func (w *World) connect(p, n int) {
	old := w.link[p][n]
	l := link{up: true, run: w.node[n].run}
	if w.Coexist {
		l.ghosts, l.haunt = old.ghosts, old.haunt
	}
	if old.run == l.run && !w.without(BaselineOutlives) {
		l.based, l.lo, l.hi = old.based, old.lo, old.hi
	}
	if old.run == l.run && !w.without(DoubtOutlives) {
		l.doubting, l.doubt = old.doubting, old.doubt
		if l.doubting == told {
			l.doubting = mustTell
		}
	}
	w.link[p][n] = l
}

// cutLink ends a connection for the proxy: the answers are lost, and so is what was not yet carried out,
// unless it was delivered.
func (w *World) cutLink(p, n int, delivered bool) {
	l := &w.link[p][n]
	for i := l.carried(); delivered && i < int(l.length) && l.haunt < ghostLength; i++ {
		f := &l.pipe[i]
		if f.op != poll && (f.done == 0 || w.order(0) != 0 && f.done == 1) {
			l.ghosts[l.haunt] = ghost{f.op, f.attempt, f.left, f.known}
			l.haunt++
		}
	}
	l.pipe, l.length, l.up, l.known = [pipeLength]flush{}, 0, false, mark{}
}

// haunted lets n carry out the next request of a dead connection.
func (w *World) haunted(p, n int) {
	l := &w.link[p][n]
	g := l.ghosts[0]
	copy(l.ghosts[:], l.ghosts[1:])
	l.ghosts[ghostLength-1] = ghost{}
	l.haunt--
	w.request(n, g.op, g.attempt, g.left, g.known)
}
