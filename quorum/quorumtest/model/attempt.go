package model

import "math/bits"

// Takes, extends and what follows them.

func count(nodes uint8) int { return bits.OnesCount8(nodes) }

// open says whether a round of the attempt waits for votes.
func (t *attempt) open() bool { return t.stage == taking || t.stage == extending }

// holds says whether the client believes that it holds the lock.
func (w *World) holds(a int) bool {
	t := &w.attempt[a]
	return (t.stage == held || t.stage == extending) && w.now < t.until
}

// start begins a take: T1 is read (P3).
func (w *World) start(a, p int) {
	t := &w.attempt[a]
	t.stage, t.proxy, t.began, t.round = taking, uint8(p), w.now, 1
	w.sendAll(a)
}

// lengthen begins an extend.
func (w *World) lengthen(a int) {
	t := &w.attempt[a]
	t.stage, t.began, t.round, t.extends = extending, w.now, t.round+1, t.extends-1
	t.sent, t.yes = 0, 0
	w.sendAll(a)
}

// sendAll is for searches to exhaustion: what departs, departs at once.
func (w *World) sendAll(a int) {
	for n := range w.Nodes {
		if w.Lean && w.room(int(w.attempt[a].proxy), n) && w.sendable(int(w.attempt[a].proxy), n) {
			w.sendRound(a, n)
		}
	}
}

func (w *World) sendRound(a, n int) {
	t := &w.attempt[a]
	t.sent |= bit(n)
	f := flush{op: take, attempt: uint8(a), round: t.round}
	if t.stage == extending {
		f.op = extend
	}
	w.send(int(t.proxy), n, f)
}

// count adds a yes, and grants if that is enough (P3). The verdict is told at once: a proxy that
// pauses before it is one that reads the last answer later.
func (w *World) count(n int, f *flush) {
	t := &w.attempt[f.attempt]
	if !t.open() || t.round != f.round {
		return
	}
	t.yes |= bit(n)
	enough := w.majority()
	if w.without(P3Majority) {
		enough = count(t.sent)/2 + 1
	}
	if count(t.yes) < enough || w.now-t.began >= w.within(t.stage) {
		return
	}
	t.stage = held
	t.until = max(t.until, t.began+w.TTL)
	t.told = 0
	w.check(int(f.attempt))
}

// within is how long a round may take.
func (w *World) within(s stage) int8 {
	if w.without(P3Limit) && s == taking || w.without(P3Extend) && s == extending {
		return w.TTL
	}
	return min(w.TTL, w.Limit)
}

// check looks for the violation: another holder at the moment of a grant.
func (w *World) check(a int) {
	for b := range w.Attempts {
		if b != a && w.holds(b) && w.holds(a) && !w.attempt[a].excused && !w.attempt[b].excused {
			w.double = bit(a) | bit(b)
		}
	}
}

// giveUp closes a round that is not granted. A take is undone, an extend leaves the lock as it is.
func (w *World) giveUp(a int) {
	t := &w.attempt[a]
	if t.stage == extending {
		t.stage = held
		return
	}
	t.stage, t.told = dead, 0
}

// letGo ends the lock at the moment the holder sends the release.
func (w *World) letGo(a int) {
	t := &w.attempt[a]
	t.stage, t.told = released, 0
}

// after sends what follows a verdict: the undo, the release, or the top-up. They go to nodes that
// are not vouched for as well (P12), and count nowhere.
func (w *World) after(a, n int) {
	t := &w.attempt[a]
	t.told |= bit(n)
	f := flush{attempt: uint8(a)}
	switch t.stage {
	case dead:
		f.op = undo
	case released:
		f.op = release
	default:
		f.op, f.left = topUp, t.until-w.now
	}
	w.send(int(t.proxy), n, f)
}

// owes says whether n is still to be told something about attempt a.
func (w *World) owes(a, n int) bool {
	t := &w.attempt[a]
	if t.told&bit(n) != 0 || !w.room(int(t.proxy), n) {
		return false
	}
	switch t.stage {
	case dead:
		return w.Undos
	case released:
		return w.Releases
	case held:
		return w.TopUps && w.now < t.until && t.yes&bit(n) == 0
	}
	return false
}
