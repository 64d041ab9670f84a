package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"redlockd/quorum"
)

// check watches the history from above: it knows the true time, and what every node really did.
type check struct {
	*world
	windows map[string][]*window // by key, those that are not over
	recent  []*run               // takes and extends that may still be granted
	ends    map[lease]time.Duration
	ruled   int  // how many verdicts were looked at
	stepped bool // a clock was wrong in this world: what is known of expiries is not exact
	wrong   []Violation

	// What before has seen.
	value string
	held  bool
	left  time.Duration
}

// Violation is what must never be.
type Violation struct {
	Law  string        // which one was broken
	At   time.Duration // true time
	What string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s, at %.3fms: %s", v.Law, float64(v.At)/1e6, v.What)
}

// The laws.
const (
	LawOneHolder = "one holder"      // two validity windows of one key never overlap
	LawMajority  = "counted quorum"  // granted: a majority has carried it out; denied: a majority has answered
	LawInTime    = "in time"         // P3, R14: granted within min(ttl, R) from the first byte on
	LawOnlyOwn   = "only one's own"  // R4: a release, an extend, an undo does nothing to somebody else's lock
	LawUndone    = "undone"          // R17: what was not granted is taken back where the node said yes
	LawAmends    = "amends"          // nothing is told after its until; nothing is topped up that was not granted
	LawEnds      = "every lock ends" // R8: no key outlives its ttl without a client's doing
	LawLive      = "live"            // R2: when the faults have stopped, a lock can be taken within a bound
)

type lease struct{ key, value string }

// audit is what is known of a round from above.
type audit struct {
	yes      []bool       // by node: it has carried it out
	heard    int          // bits, by node: it has answered, or never will
	said     map[int]bool // whose yes was heard
	votes    quorum.Votes
	granted  bool
	unwanted bool
	excused  bool
}

func (r *run) carriedOut() (n int) {
	for _, yes := range r.audit.yes {
		if yes {
			n++
		}
	}
	return n
}

// fail: the law was broken.
func (c *check) fail(law, what string, args ...any) {
	v := Violation{law, c.now, fmt.Sprintf(what, args...)}
	c.say("CHECK", "VIOLATION of %s: %s", law, v.What)
	c.wrong = append(c.wrong, v)
}

func (c *check) begins(r *run) {
	if r.req.Op != quorum.Take && r.req.Op != quorum.Extend {
		return
	}
	if len(c.recent) > 256 {
		kept := c.recent[:0]
		for _, old := range c.recent {
			if c.now-old.first < c.mix.maxTTL {
				kept = append(kept, old)
			}
		}
		c.recent = kept
	}
	c.recent = append(c.recent, r)
}

// hears: the round is told of a node's answer.
func (c *check) hears(r *run, i int, a quorum.Answer) {
	r.audit.heard |= 1 << i
	if r.round.Ruling().Verdict == quorum.Open {
		switch a.Counted() {
		case quorum.Yes:
			r.audit.votes.Yes++
		case quorum.No:
			r.audit.votes.No++
		}
	}
	if c.tracing() && r.req.Op != quorum.Get {
		c.say(r.name, "hears of round %d (%s %s %s) from node %d: %v %v", r.id, r.req.Op, r.req.Key, r.req.Token, i, a.Counted(), firstOf(a.Doubt, a.Err))
	}
	if a.Vote == quorum.Yes && r.req.Op == quorum.Take {
		if r.audit.said == nil {
			r.audit.said = map[int]bool{}
		}
		r.audit.said[i] = true
		if r.audit.unwanted {
			c.expectUndo(r, i)
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *check) decides(r *run) {
	c.ruled++
	majority := len(r.pipes)/2 + 1
	verdict := r.round.Ruling().Verdict
	if r.req.Op == quorum.Take || r.req.Op == quorum.Extend || r.req.Op == quorum.Release {
		v := r.audit.votes
		switch {
		case verdict == quorum.Granted && (v.Yes < majority || r.carriedOut() < majority):
			c.fail(LawMajority, "round %d (%s) was granted with %d yes that count, carried out by %d nodes of %d",
				r.id, r.req.Op, v.Yes, r.carriedOut(), len(r.pipes))
		case verdict == quorum.Denied && v.Yes+v.No < majority:
			c.fail(LawMajority, "round %d (%s) was denied with %d yes and %d no of %d nodes", r.id, r.req.Op, v.Yes, v.No, len(r.pipes))
		}
	}
	if r.req.Op == quorum.Take && verdict != quorum.Granted {
		c.notWanted(r)
	}
}

// confirms is the last word.
func (c *check) confirms(r *run, ruling quorum.Ruling) {
	c.count("rounds " + ruling.Verdict.String())
	if r.req.Op != quorum.Take && r.req.Op != quorum.Extend {
		return
	}
	if ruling.Verdict != quorum.Granted {
		if r.req.Op == quorum.Take {
			c.notWanted(r)
		}
		return
	}
	r.audit.granted = true
	limit := min(c.mix.roundLimit, r.req.TTL)
	if spent := c.now - r.first; spent > limit+limit/500 { // our clock may be off by that
		c.fail(LawInTime, "round %d (%s) was granted %v after its first byte, with a limit of %v", r.id, r.req.Op, spent, limit)
	}
}

func (c *check) givenBack(r *run) { c.notWanted(r) }

// notWanted: whatever this attempt got is to be taken back.
func (c *check) notWanted(r *run) {
	if r.audit.unwanted {
		return
	}
	r.audit.unwanted = true
	for i := range r.pipes {
		if r.audit.said[i] {
			c.expectUndo(r, i)
		}
	}
}

const undoWithin = 400 * time.Millisecond

// expectUndo looks, when there has been time to, whether the node was told. Only where nothing was in the way.
func (c *check) expectUndo(r *run, i int) {
	q, life := r.pipes[i], r.proxy.life
	l := q.current
	if l == nil || r.clock()-r.t1 > r.req.TTL/2 || c.stepped {
		return
	}
	tries := 0
	var look func()
	look = func() {
		token, holds := q.node.node.Value(string(r.req.Key))
		switch tries++; {
		case r.proxy.life != life || q.current != l || !q.node.up || tries > 5:
			return // it could not be told, or only late
		case q.node.hung || len(l.calls) > 0 || len(q.owed) > 0 || c.now < r.paused:
			c.after(undoWithin, look)
		case holds && token == string(r.req.Token) && q.node.setBy[string(r.req.Key)] == r.id:
			c.fail(LawUndone, "%s still has what round %d set there, which was not granted, or whose client is gone", q.node.name, r.id)
		}
	}
	c.after(undoWithin, look)
}

// before a node carries out a command.
func (c *check) before(m *machine, o order) {
	if o.req == nil || o.req.Key == nil {
		return
	}
	c.value, c.held = m.node.Value(string(o.req.Key))
	c.left = m.node.Left(string(o.req.Key))
}

// after a node has carried out a command.
func (c *check) carriedOut(m *machine, o order, reply any) {
	if len(o.words) > 4 && o.words[0] == "EVAL" && o.words[len(o.words)-1] != "" {
		c.copied(m, o.words[2:])
	}
	if o.req == nil || o.req.Key == nil {
		return
	}
	key, token := string(o.req.Key), string(o.req.Token)
	now, holds := m.node.Value(key)
	n, isNumber := reply.(int64)
	yes := reply == "OK" || isNumber && (n > 0 || n == 0 && o.req.Op == quorum.Release)
	if yes && !o.owed && o.run != nil && o.run.audit.yes != nil {
		for i, other := range c.machines {
			if other == m {
				o.run.audit.yes[i] = true
			}
		}
	}
	switch o.req.Op {
	case quorum.Take:
		if yes {
			m.setBy[key] = o.run.id
			if o.run.uneven {
				c.after(c.between(0, 2*ms), func() { c.betray(m, c.mix.struckAtYes, "has just said yes") })
			}
			c.lasts(key, token, o.req.Life)
		}
	case quorum.Extend:
		switch {
		case !c.held && holds:
			c.fail(LawOnlyOwn, "on %s, the extend of round %d brought back a lock that was gone", m.name, o.run.id)
		case c.held && c.value != token && m.node.Left(key) > c.left+5*time.Millisecond:
			c.fail(LawOnlyOwn, "on %s, the extend of round %d for %s lengthened the lock of %s", m.name, o.run.id, token, c.value)
		}
		if yes {
			c.lasts(key, now, o.req.Life)
		}
	case quorum.TopUp:
		if !o.run.audit.granted {
			c.fail(LawAmends, "%s was topped up with the lock of round %d, which was not granted", m.name, o.run.id)
		}
		if !c.held && holds {
			m.setBy[key] = 0
		}
		c.lasts(key, token, o.req.Life)
	case quorum.Release, quorum.TakeBack:
		c.removes(m, o, key, token, holds)
	}
}

// copied: a lesson has merged locks. What was read a while before lasts longer by that while, which hurts nobody.
func (c *check) copied(m *machine, words []string) {
	n, _ := strconv.Atoi(words[0])
	if len(words) < n+3 || words[n+2] != quorum.Blocker {
		return // it is another script
	}
	keys, values := words[2:1+n], words[1+n+2:]
	for i, key := range keys {
		left, _ := strconv.Atoi(values[2*i+1])
		delete(m.setBy, key) // it may last longer now than an undo expects
		c.lasts(key, values[2*i], time.Duration(left)*time.Millisecond)
	}
}

// removes: a release or an undo was carried out.
func (c *check) removes(m *machine, o order, key, token string, holds bool) {
	if o.owed && o.at >= o.until {
		c.fail(LawAmends, "%s was told to %s %s of %s too late", m.name, o.req.Op, key, token)
	}
	if !c.held || holds {
		return
	}
	setBy := m.setBy[key]
	delete(m.setBy, key)
	if c.mix.shared && !c.strict && c.accepted(m, o, key, setBy) {
		c.excuse(key, token, setBy)
		return
	}
	switch {
	case c.value != token:
		c.fail(LawOnlyOwn, "on %s, the %s of %s removed the lock of %s", m.name, o.req.Op, token, c.value)
	case c.mix.shared && o.req.Op == quorum.TakeBack && o.run.req.Op == quorum.Take && setBy > 0 && setBy != o.run.id &&
		!o.req.Later && c.now-o.born < 2*time.Millisecond && !c.stepped:
		c.fail(LawOnlyOwn, "on %s, the undo of round %d removed what round %d had set with the same token", m.name, o.run.id, setBy)
	}
}

// accepted says that a release or an undo has reached what somebody else with the same token had set there, in a way that cannot be
// helped while tokens are not unique: the network had held it up; it went to a node that was being taught, or has forgotten what it is about; it was the release of a
// holder, which also removes what another request of that token has got on that node, through another redlockd, and counts on; or
// it was the undo of that.
func (c *check) accepted(m *machine, o order, key string, setBy int) bool {
	late := o.req.Later || c.now-o.since() >= 2*time.Millisecond
	switch {
	case setBy == o.run.id:
		return false
	case o.req.Op == quorum.TakeBack:
		return late || setBy == 0 || o.run.audit.excused || m.forgotAt > o.run.first
	default:
		return late || !slices.ContainsFunc(c.windows[key], func(w *window) bool { return w.run.id == setBy && w.end <= c.now })
	}
}

// excuse what becomes of the lock that was set by that round; of all with that token, where it is not known which.
func (c *check) excuse(key, token string, setBy int) {
	hit := func(r *run) bool {
		if setBy > 0 {
			return r.id == setBy
		}
		return string(r.req.Key) == key && string(r.req.Token) == token
	}
	for _, w := range c.windows[key] {
		w.excused = w.excused || hit(w.run)
	}
	for _, r := range c.recent {
		r.audit.excused = r.audit.excused || hit(r)
	}
}

// lasts: a key with that value may be there until then.
func (c *check) lasts(key, value string, life time.Duration) {
	l := lease{key, value}
	c.ends[l] = max(c.ends[l], c.now+life+life/50+20*time.Millisecond)
}

// sweep looks whether a key has outlived its ttl.
func (c *check) sweep() {
	slack := c.lengthened
	for _, m := range c.machines {
		for _, key := range m.node.Keys() {
			value, _ := m.node.Value(key)
			end := c.ends[lease{key, value}]
			if value == quorum.Blocker {
				for l, e := range c.ends {
					if l.key == key {
						end = max(end, e)
					}
				}
			}
			if m.up && c.now > end+slack {
				c.fail(LawEnds, "%s still has %s, which belongs to %s and should have ended at %v", m.name, key, value, end)
				c.ends[lease{key, value}] = 1 << 62 // told once
			}
		}
	}
	for l, end := range c.ends {
		if c.now > end+slack+time.Minute && end < 1<<61 {
			delete(c.ends, l)
		}
	}
}
