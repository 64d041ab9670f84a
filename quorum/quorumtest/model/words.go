package model

import (
	"fmt"
	"strings"
)

// Tell prints a trace in words, one line a step.
func Tell(s *Scenario, trace []Action) string {
	var out strings.Builder
	w := NewWorld(s)
	fmt.Fprintf(&out, "N=%d ttl=%d R=%d; %s\n", s.Nodes, s.TTL, s.Limit, w.memory())
	for _, c := range trace {
		before := *w
		words := w.words(c)
		w.Do(c)
		fmt.Fprintf(&out, "%3d  %s%s\n", before.now, words, w.changes(&before, c))
	}
	return out.String()
}

func letter(n uint8) string { return string(rune('A' + n)) }

func (m mark) String() string {
	switch {
	case m == mark{}:
		return "none"
	case m == mark{scar: true}:
		return "un-vouched"
	case m.run == 0 && m.scar:
		return fmt.Sprintf("teaching-again:%d", m.nonce)
	case m.run == 0:
		return fmt.Sprintf("teaching:%d", m.nonce)
	}
	return fmt.Sprintf("run%d:%d:%d", m.run, m.nonce, m.off)
}

var requests = map[op]string{poll: "look", take: "take", extend: "extend", release: "release", undo: "undo",
	topUp: "top-up", unvouch: "unvouch", unvouchAny: "unvouch whatever vouches"}

// words of the step c, told before it is taken.
func (w *World) words(c Action) string {
	a, n := c.a, c.n
	proxy := func(p uint8) string { return fmt.Sprintf("proxy %d", p) }
	lock := func(a uint8) string { return fmt.Sprintf("lock %d of proxy %d", a, w.attempt[a].proxy) }
	switch c.Kind {
	case tick:
		return "a tick"
	case start:
		return fmt.Sprintf("proxy %d begins take %d", n, a)
	case send:
		return fmt.Sprintf("%s: the %s departs to %s", lock(a), w.verb(a), letter(n))
	case giveUp:
		return fmt.Sprintf("%s: the %s is given up", lock(a), w.verb(a))
	case lengthen:
		return lock(a) + ": an extend begins"
	case letGo:
		return lock(a) + ": the holder releases"
	case after:
		next := map[stage]string{dead: "undo", released: "release", held: "top-up"}[w.attempt[a].stage]
		return fmt.Sprintf("%s: the %s departs to %s", lock(a), next, letter(n))
	case ask:
		return proxy(a) + " asks " + letter(n) + " for its mark"
	case tellDoubt:
		return proxy(a) + " sends " + letter(n) + " an unvouch"
	case carryOut:
		l := &w.link[a][n]
		f := &l.pipe[l.carried()]
		step := [...]string{w.named(f.op, f.attempt), "GET boot", "TIME"}[w.order(f.done)]
		if w.Split == Whole {
			step = w.named(f.op, f.attempt) + " and tail"
		}
		return fmt.Sprintf("%s carries out for proxy %d: %s", letter(n), a, step)
	case read:
		f := &w.link[a][n].pipe[0]
		return fmt.Sprintf("proxy %d reads from %s: %s, boot %s, clock %+d", a, letter(n), w.named(f.op, f.attempt), f.boot, f.off)
	case haunted:
		g := w.link[a][n].ghosts[0]
		return fmt.Sprintf("%s carries out for a dead connection of proxy %d: %s", letter(n), a, w.named(g.op, g.attempt))
	case connect:
		return proxy(a) + " connects to " + letter(n)
	}
	return w.nodeWords(c)
}

func (w *World) verb(a uint8) string {
	if w.attempt[a].stage == extending {
		return "extend"
	}
	return "take"
}

func (w *World) named(o op, a uint8) string {
	if o == poll || o >= unvouch {
		return requests[o]
	}
	return fmt.Sprintf("%s of lock %d", requests[o], a)
}

// nodeWords are those of teachers, admissions and faults.
func (w *World) nodeWords(c Action) string {
	a, n := c.a, c.n
	t := fmt.Sprintf("teacher %d: ", a)
	switch c.Kind {
	case readmit:
		return t + "begins on " + letter(n)
	case openScan:
		return t + "reads the mark of " + letter(n) + " before its keys"
	case copyKeys:
		return t + "reads the keys of " + letter(n)
	case closeScan:
		return t + "reads the mark of " + letter(n) + " again"
	case merge:
		return t + "merges the keys of " + letter(n) + " into " + letter(w.teacher[a].node)
	case vouch:
		return t + "vouches for " + letter(w.teacher[a].node)
	case vouchLate:
		return t + "has waited the longest ttl and vouches for " + letter(w.teacher[a].node)
	case vouchWhole:
		return t + "trusts the file of " + letter(w.teacher[a].node)
	case admit:
		d := w.admitter[a]
		step := [...]string{"begins on", "begins on", "looks again at", "vouches for"}[d.stage]
		return fmt.Sprintf("proxy %d, new fleet: %s %s", a, step, letter(d.next))
	case pass:
		return fmt.Sprintf("proxy %d, new fleet: leaves out %s", a, letter(w.admitter[a].next))
	case crash:
		return fmt.Sprintf("FAULT proxy %d crashes", a)
	case lose:
		return fmt.Sprintf("FAULT teacher %d loses its connection", a)
	case cut:
		return fmt.Sprintf("FAULT the connection of proxy %d to %s is cut", a, letter(n))
	case cutDelivered:
		return fmt.Sprintf("FAULT the connection of proxy %d to %s is cut, what it had sent arrives", a, letter(n))
	}
	what := map[Kind]string{save: "saves a snapshot", restartEmpty: "restarts empty",
		restartOld: "restarts with its old snapshot", restartFull: "restarts with its complete file", flushNode: "is flushed",
		stepForward: fmt.Sprintf("steps its clock by +%d", w.Jump), stepBack: fmt.Sprintf("steps its clock by -%d", w.back())}
	return "FAULT " + letter(a) + " " + what[c.Kind]
}

// changes are what a step did to the nodes and the locks.
func (w *World) changes(before *World, c Action) string {
	var out strings.Builder
	for n := range w.Nodes {
		x, y := before.node[n], w.node[n]
		if x.token != y.token || x.boot != y.boot || x.end != y.end {
			fmt.Fprintf(&out, "; %s: %s", letter(uint8(n)), y.memory())
		}
	}
	for a := range w.Attempts {
		x, y := before.attempt[a], w.attempt[a]
		if x.yes != y.yes && y.yes != 0 {
			fmt.Fprintf(&out, "; a yes to lock %d counts", a)
		}
		if x.stage != held && y.stage == held && y.until >= x.until && c.Kind == read {
			fmt.Fprintf(&out, "; lock %d is GRANTED until %d", a, y.until)
		}
	}
	if w.double != 0 {
		out.WriteString("; TWO HOLDERS")
	}
	return out.String()
}

func (c node) memory() string {
	key := "no key"
	switch {
	case c.token == blocker:
		key = fmt.Sprintf("blocked until %d", c.end-c.off)
	case c.token != 0:
		key = fmt.Sprintf("lock %d until %d", c.token-1, c.end-c.off)
	}
	return fmt.Sprintf("boot %s, %s", c.boot, key)
}

func (w *World) memory() string {
	var all []string
	for n := range w.Nodes {
		all = append(all, letter(uint8(n))+": "+w.node[n].memory())
	}
	return strings.Join(all, "; ")
}
