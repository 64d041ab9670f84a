package sim

import (
	"fmt"
	"slices"
	"time"
)

// window is the time in which a client may rely on a lock: from when it could know until its ttl is over, counted from before it
// asked, as clients count that know nothing of us.
type window struct {
	run     *run
	key     string
	client  string
	begin   time.Duration
	end     time.Duration
	excused bool
}

func (w *window) String() string {
	return fmt.Sprintf("%s from %.3fms to %.3fms (round %d, %s)", w.client, float64(w.begin)/1e6, float64(w.end)/1e6, w.run.id, w.run.req.Token)
}

// opens a window: the client has been told that it has the lock.
func (c *check) opens(r *run, client string, end time.Duration) *window {
	w := &window{run: r, key: string(r.req.Key), client: client, begin: c.now, end: end, excused: r.audit.excused}
	c.say(client, "has %s until %.3fms (round %d)", w.key, float64(end)/1e6, r.id)
	c.grants++
	c.note(uint64(r.id))
	c.meets(w)
	open := c.windows[w.key][:0]
	for _, o := range c.windows[w.key] {
		if o.end > c.now {
			open = append(open, o)
		}
	}
	c.windows[w.key] = append(open, w)
	if holders := c.holders(r); len(holders) > 0 {
		m := pick(c.loop, holders...)
		c.after(c.between(0, 20*ms), func() { c.betray(m, c.mix.struckAtGrant, "has a lock that was just granted") })
	}
	return w
}

// holders are the nodes that have the lock.
func (c *check) holders(r *run) (all []*machine) {
	for _, m := range c.machines {
		if token, ok := m.node.Value(string(r.req.Key)); ok && token == string(r.req.Token) {
			all = append(all, m)
		}
	}
	return all
}

// lengthens a window that was extended.
func (c *check) lengthens(w *window, r *run, end time.Duration) {
	if end <= c.now {
		return
	}
	c.say(w.client, "has %s extended until %.3fms", w.key, float64(end)/1e6)
	w.end, w.excused = max(w.end, end), w.excused || r.audit.excused
	if holders := c.holders(r); len(holders) > 0 {
		m := pick(c.loop, holders...)
		c.after(c.between(0, 20*ms), func() { c.betray(m, c.mix.struckAtGrant, "has a lock that was just extended") })
	}
	c.meets(w)
	if !slices.Contains(c.windows[w.key], w) {
		c.windows[w.key] = append(c.windows[w.key], w)
	}
}

func (c *check) meets(w *window) {
	for _, o := range c.windows[w.key] {
		if o != w && o.end > c.now && !o.excused && !w.excused {
			c.fail(LawOneHolder, "%s is held by two: %v, and %v", w.key, o, w)
		}
	}
}

// closes a window: the client will not rely on it from here on.
func (c *check) closes(w *window) { w.end = min(w.end, c.now) }

// forgot: a node has lost its memory, or some of it. When no node is vouched for any more, all that was granted is lost, which
// is accepted: such a fleet cannot be told from a new one.
func (c *check) forgot() {
	for _, m := range c.machines {
		if m.vouched() {
			return
		}
	}
	c.count("all memory lost at once")
	c.say("CHECK", "no node is vouched for: the locks of before are excused")
	for _, all := range c.windows {
		for _, w := range all {
			w.excused = true
		}
	}
	for _, r := range c.recent {
		if r.carriedOut() >= len(c.machines)/2+1 {
			r.audit.excused = true
		}
	}
}
