package model

// Readmission (P5 to P10). What a teacher does over one connection is carried out at once: a request that
// is late is a step that is taken late, and an answer that is late delays what follows it.

// readmit begins: boot becomes teaching:<n>, and C's TIME is noted (P5).
func (w *World) readmit(t, n int) {
	c := &w.node[n]
	w.nonce++
	w.teacher[t] = teacher{active: true, node: uint8(n), mark: w.nonce, off: c.off, began: w.now, whole: w.complete(n)}
	c.boot = mark{nonce: w.nonce, scar: c.boot.scarred()}
}

// scarred says whether the memory that m stands in was vouched for once.
func (m mark) scarred() bool { return m.scar || m.run != 0 }

// own says whether boot is the teaching mark with this nonce.
func (m mark) own(nonce uint8) bool { return m.run == 0 && m.nonce == nonce }

// complete says whether n needs no teaching (P13): it loads all that it ever wrote, it wrote it in a time in which it
// was vouched for, and its clock is the one of that time.
func (w *World) complete(n int) bool {
	c := &w.node[n]
	return w.Durable&bit(n) != 0 && (c.boot.run != 0 || w.without(P13Mark)) && (c.boot.off == c.off || w.without(P13Clock))
}

// others says how many sources are wanted (P7).
func (w *World) others() int {
	if w.without(P7Sources) {
		return w.Nodes - w.majority()
	}
	return w.Nodes - w.majority() + 1
}

// waited says whether R is over (P6).
func (w *World) waited(t int) bool {
	wait := w.Limit
	switch {
	case w.without(P6Wait):
		return true
	case w.without(P6WholeLimit):
		wait--
	}
	return w.now-w.teacher[t].began >= wait
}

// openScan reads the source's mark before its first key (P7).
func (w *World) openScan(t, n int) {
	c := &w.node[n]
	w.teacher[t].source[n] = scan{stage: opened, boot: c.boot, off: c.off, run: c.run}
}

func (w *World) mayOpen(t, n int) bool {
	if !w.waited(t) && !w.without(P6BeforeScan) {
		return false
	}
	c := &w.node[n]
	return w.without(P7VouchedBefore) || c.boot.voucher(c.run) && !w.stale(t, n)
}

// stale says whether the source's clock has stepped, as far as it can be seen.
func (w *World) stale(t, n int) bool {
	c := &w.node[n]
	l := &w.link[t%w.Proxies][n]
	if l.based && l.run == c.run && (c.off < l.lo || l.hi < c.off) && !w.without(P2Step) {
		return true
	}
	return w.misdated(c.boot, c.run, c.off, c.off)
}

func (w *World) copyKeys(t, n int) {
	c, s := &w.node[n], &w.teacher[t].source[n]
	s.stage, s.token, s.left = copied, c.token, 0
	if c.token != 0 {
		s.left = c.end - (w.now + c.off)
	}
}

// closeScan reads the mark again. It is another one: the scan is dropped.
func (w *World) closeScan(t, n int) {
	c, s := &w.node[n], &w.teacher[t].source[n]
	same := c.boot == s.boot && c.off == s.off
	switch {
	case w.without(P7VouchedAfter):
		same = true
	case w.without(P7VouchedBefore):
		same = c.boot.voucher(c.run) && !w.stale(t, n)
	}
	if !same {
		*s = scan{}
		return
	}
	s.stage = sound
}

// merge puts the source's key on C (P8). Nothing is ever shortened or deleted.
func (w *World) merge(t, n int) {
	s := &w.teacher[t].source[n]
	c := &w.node[w.teacher[t].node]
	if w.without(P8NotFlushed) && !w.teacher[t].wiped {
		w.teacher[t].wiped = true
		c.token, c.end = 0, 0
	}
	end := w.now + c.off + s.left
	switch {
	case s.token == 0:
	case c.token == 0:
		c.token, c.end = s.token, end
	case c.token == s.token:
		if c.end < end || w.without(P8LongerTTL) {
			c.end = end
		}
	case w.without(P8NotLeft):
	case w.without(P8NotOverwritten):
		c.token, c.end = s.token, end
	case w.without(P8NotLongest):
		if c.end < end {
			c.token, c.end = s.token, end
		}
	default:
		c.token, c.end = blocker, max(c.end, end)
	}
	*s = scan{stage: merged}
}

// taught says whether enough sources were copied.
func (w *World) taught(t int) bool {
	done := 0
	for n := range w.Nodes {
		if w.teacher[t].source[n].stage == merged {
			done++
		}
	}
	return done >= w.others() && (w.waited(t) || !w.without(P6BeforeScan))
}

// vouch ends the teaching, if boot is still the teacher's mark and the clock did not step (P9).
func (w *World) vouch(t int) {
	k := w.teacher[t]
	w.teacher[t] = teacher{}
	c := &w.node[k.node]
	if !c.boot.own(k.mark) && !w.without(P9Mark) {
		return
	}
	if c.off != k.off && !w.without(P9Clock) {
		return
	}
	c.boot = mark{nonce: k.mark, run: c.run, off: c.off}
}

// P11. The connections are opened to all N; whatever is lost ends it.

// admit takes the next step of a new fleet's admission.
func (w *World) admit(p int) {
	a := &w.admitter[p]
	if a.stage == notAdmitting {
		w.nonce++
		*a = admission{stage: beginning, mark: w.nonce}
	}
	n := int(a.next)
	c := &w.node[n]
	mine := c.boot.own(a.mark)
	switch a.stage {
	case beginning:
		if c.boot.voucher(c.run) || c.boot.scarred() && !w.without(P11Scars) {
			*a = admission{}
			return
		}
		c.boot = mark{nonce: a.mark, scar: c.boot.scarred()}
		a.reached |= bit(n)
		a.began = w.now
	case checking:
		if !mine && a.reached&bit(n) != 0 {
			*a = admission{}
			return
		}
	case vouching:
		if mine {
			c.boot = mark{nonce: a.mark, run: c.run, off: c.off}
		}
	}
	w.turn(p)
}

// turn passes on to the next node, and after the last to the next stage.
func (w *World) turn(p int) {
	a := &w.admitter[p]
	a.next++
	if int(a.next) < w.Nodes {
		return
	}
	a.next = 0
	switch {
	case a.stage == beginning && w.without(P11AtOnce):
		a.stage = vouching
	case a.stage == vouching:
		*a = admission{}
	default:
		a.stage++
	}
}

// mayAdmit says whether the next step may be taken: R is waited from the last begin.
func (w *World) mayAdmit(p int) bool {
	a := &w.admitter[p]
	if a.stage == notAdmitting {
		return w.nonce < w.Begins && !w.node[0].boot.voucher(w.node[0].run)
	}
	if a.stage == beginning || w.without(P11Wait) {
		return true
	}
	return w.now-a.began >= w.Limit
}

// pass leaves out a node that cannot be reached. Only a broken rule does that.
func (w *World) pass(p int) {
	if a := &w.admitter[p]; a.stage == notAdmitting {
		w.nonce++
		*a = admission{stage: beginning, mark: w.nonce}
	}
	w.turn(p)
}
