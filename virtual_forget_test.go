package main

// Nodes that forget: restarts, flushes and old snapshots, with two redlockd of which one is the lock's holder's and the
// other that of somebody who wants the lock as well (R21).

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

// What our scripts are known by, to tests that look at what a node is about to do.
const (
	tendScript  = "redis.call('PEXPIRE', KEYS[2]"
	pageScript  = "'SCAN'"
	mergeScript = "local blocker"
	vouchScript = "return 'vouched'"
)

func runs(args []string, script string) bool {
	return args[0] == "EVAL" && strings.Contains(args[1], script)
}

// before lets do run once, before the nth command on the node that is like this.
func before(n *quorumtest.Node, nth int, like func(args []string) bool, do func()) {
	seen := 0
	var mu sync.Mutex
	n.Before(func(args []string) {
		mu.Lock()
		if like(args) {
			seen++
		}
		due := seen == nth
		if due {
			seen++
		}
		mu.Unlock()
		if due {
			do()
		}
	})
}

func script(name string) func([]string) bool {
	return func(args []string) bool { return runs(args, name) }
}

func markOf(n *quorumtest.Node) quorum.Mark {
	v, _ := n.Value(quorum.MarkKey)
	return quorum.ParseMark(v)
}

// vouched says that the node carries the mark of its running instance.
func vouched(n *quorumtest.Node) bool {
	m := markOf(n)
	return m.RunID != "" && m.RunID == n.RunID()
}

func taught(n *quorumtest.Node) bool {
	m := markOf(n)
	return m.RunID == "" && m.Nonce != ""
}

func (w world) allVouched() bool {
	for _, n := range w.nodes {
		if !vouched(n) {
			return false
		}
	}
	return true
}

// until waits for it, and returns how long that took.
func (w world) until(what string, limit time.Duration, is func() bool) time.Duration {
	w.Helper()
	for began := time.Now(); ; time.Sleep(ms) {
		synctest.Wait()
		spent := time.Since(began)
		switch {
		case is():
			return spent
		case spent > limit:
			w.Fatalf("not %s within %v", what, limit)
		}
	}
}

// roundLimit is R, the default.
const roundLimit = 500 * ms

// guardMarks looks every millisecond whether a node was vouched for too early: without a lesson, or before
// R was over since its lesson began (P5, P6).
func (w world) guardMarks() {
	stop := make(chan struct{})
	w.Cleanup(func() { close(stop) })
	type seen struct {
		quorum.Mark
		since time.Time
	}
	last := make([]seen, len(w.nodes))
	for i, n := range w.nodes {
		last[i] = seen{markOf(n), time.Now()}
	}
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(ms):
			}
			for i, n := range w.nodes {
				m, was := markOf(n), last[i]
				if m == was.Mark {
					continue
				}
				last[i] = seen{m, time.Now()}
				if m.RunID == "" || m.RunID != n.RunID() {
					continue
				}
				if spent := time.Since(was.since) + ms; was.RunID != "" || was.Nonce == "" || spent < quorum.WaitOut(roundLimit) {
					w.Errorf("node %d was vouched for %v after %q", i+1, spent, was.Mark)
				}
			}
		}
	}()
}

// heldByLast lets the client hold key on the last n nodes only; the others are free a moment later.
func (w world) heldByLast(n int, c *client, key string, ttl time.Duration) (until time.Time) {
	w.Helper()
	for _, node := range w.nodes[:len(w.nodes)-n] {
		node.Put(key, "x", 3*ms)
	}
	until = time.Now().Add(ttl)
	c.want(fmt.Sprintf("SET %s t1 NX PX %d", key, ttl.Milliseconds()), "+OK", 0)
	w.wantHolders(key, "t1", n)
	time.Sleep(5 * ms)
	return until
}

// refused tries to take key again and again while it is another's: until then, or until enough.
func (w world) refused(c *client, key string, until time.Time, enough func() bool) {
	w.Helper()
	for time.Now().Before(until) && (enough == nil || !enough()) {
		if got := c.do("SET " + key + " t2 NX PX 1000"); got == "+OK" {
			if time.Now().Before(until) {
				w.Fatalf("granted %v before the end of another's lock", time.Until(until))
			}
			c.do("EVAL " + release + " 1 " + key + " t2")
		} else if got != "nil" && !strings.HasPrefix(got, "-NOQUORUM") {
			w.Fatal(got)
		}
		time.Sleep(31 * ms)
	}
}

// free: the lock is over, on all nodes but for padding, and somebody else gets it.
func (w world) free(c *client, key string, until time.Time) {
	w.Helper()
	time.Sleep(time.Until(until.Add(quorum.Drift(time.Minute))))
	if got := c.do("SET " + key + " t3 NX PX 1000"); got != "+OK" {
		w.Fatal(got)
	}
}

// blocksUntil checks that the node holds the lock, and not for longer than it was given, but for the padding, the
// rounding of copies, and how long a copy was on its way.
func (w world) blocksUntil(n *quorumtest.Node, key, token string, until time.Time, ttl, late time.Duration) {
	w.Helper()
	switch v, _ := n.Value(key); v {
	case token:
	case quorum.Blocker: // somebody else tried, and was scanned before it was undone
		if n.Left(key) < time.Until(until) {
			w.Fatalf("the node is blocked for %v, want %v", n.Left(key), time.Until(until))
		}
		return
	default:
		w.Fatalf("the node holds %q, want %q", v, token)
	}
	most := time.Until(until) + quorum.Drift(ttl) + 10*ms + late
	if left := n.Left(key); left < time.Until(until) || left > most {
		w.Fatalf("the node keeps the lock for %v, want %v to %v", left, time.Until(until), most)
	}
}

func startAnew(n *quorumtest.Node) { n.Kill(); n.Start() }

func flush(n *quorumtest.Node) { n.Flush() }

func restore(n *quorumtest.Node) { n.Kill(); n.StartFrom() }

func nothing(*quorumtest.Node) {}

// Client 1 holds the last three of five nodes, the last of which forgets.
func TestR21ForgottenLockIsNotGrantedAgain(t *testing.T) {
	for _, test := range []struct {
		name            string
		early, late     func(*quorumtest.Node) // before the lock was taken, and after
		forget          func(*quorumtest.Node)
		newcomer, alone bool // who wants it comes afterwards; and nobody else is left
	}{
		{name: "restart", forget: startAnew},
		{name: "flush", forget: flush},
		{name: "old snapshot", early: (*quorumtest.Node).Save, forget: restore},
		{name: "full snapshot", late: (*quorumtest.Node).Save, forget: restore},
		{name: "startAnew, newcomer", forget: startAnew, newcomer: true},
		{name: "flush, newcomer", forget: flush, newcomer: true},
		{name: "startAnew, newcomer alone", forget: startAnew, newcomer: true, alone: true},
		{name: "flush, newcomer alone", forget: flush, newcomer: true, alone: true},
		{name: "old snapshot, newcomer alone", early: (*quorumtest.Node).Save, forget: restore, newcomer: true, alone: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			virtual(t, 5, func(w world) {
				w.guardMarks()
				last, ttl := w.nodes[4], 3*time.Second
				if test.early != nil {
					test.early(last)
				}
				one, end := w.start()
				var two *quorumtest.Listener
				if !test.newcomer {
					two = w.redlockd()
				}
				until := w.heldByLast(3, w.client(one), "k", ttl)
				if test.late != nil {
					test.late(last)
				}
				if test.alone {
					end()
				}
				test.forget(last)
				if test.newcomer {
					two = w.redlockd()
				}
				c := w.client(two)
				w.refused(c, "k", until, func() bool { return vouched(last) })
				if gone := time.Since(until.Add(-ttl)); gone > 1500*ms {
					w.Fatalf("vouched for only after %v", gone)
				}
				w.blocksUntil(last, "k", "t1", until, ttl, 0)
				time.Sleep(time.Second) // everybody knows that it votes again
				w.nodes[3].Kill()
				w.refused(c, "k", until, nil)
				w.free(c, "k", until)
			})
		})
	}
}

// filler is so many locks that a scan has several pages.
func (w world) filler(many int) {
	for _, n := range w.nodes {
		for i := range many {
			n.Put(fmt.Sprintf("filler%d", i), "f", time.Hour)
		}
	}
}

// Something else happens while the node that forgot is taught: before a page of what the third node holds is read. That is the only node but the fourth that can tell of the lock.
func TestR21TroubleWhileTaught(t *testing.T) {
	const source, last = 2, 4
	for _, test := range []struct {
		name string
		do   func(w world)
	}{
		{"flushed again", func(w world) { w.nodes[last].Flush() }},
		{"restarted again", func(w world) { startAnew(w.nodes[last]) }},
		{"restarted with our mark", func(w world) { w.nodes[last].Save(); restore(w.nodes[last]) }},
		{"cut", func(w world) { w.nodes[last].Cut() }},
		{"unplugged", func(w world) {
			w.nodes[last].Unplug()
			time.AfterFunc(300*ms, w.nodes[last].Start)
		}},
		{"hung", func(w world) {
			w.nodes[last].Hang()
			time.AfterFunc(1500*ms, w.nodes[last].Resume)
		}},
		{"stepped", func(w world) { w.nodes[last].Step(30 * time.Second) }},
		{"stepped back", func(w world) { w.nodes[last].Step(-30 * time.Second) }},
		{"source killed", func(w world) { w.nodes[source].Kill() }},
		{"source restarted", func(w world) { startAnew(w.nodes[source]) }},
		{"source flushed", func(w world) { w.nodes[source].Flush() }},
		{"source cut", func(w world) { w.nodes[source].Cut() }},
		{"source hung", func(w world) {
			w.nodes[source].Hang()
			time.AfterFunc(2500*ms, w.nodes[source].Resume)
		}},
		{"source stepped", func(w world) { w.nodes[source].Step(30 * time.Second) }},
		{"source stepped before", func(w world) { w.nodes[source].Step(30 * time.Second) }},
		{"another flushed", func(w world) { w.nodes[0].Flush() }},
	} {
		what, nth := pageScript, 2
		switch {
		case strings.HasSuffix(test.name, " before"): // the scan begins, and after the source was looked at last
			what, nth = tendScript, 1
		case strings.HasPrefix(test.name, "source"): // the lock was read
			nth = 1
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			virtual(t, 5, func(w world) {
				w.guardMarks()
				w.filler(110)
				one, two := w.redlockd(), w.redlockd()
				c, ttl := w.client(two), 4*time.Second
				until := w.heldByLast(3, w.client(one), "k", ttl)
				var happened atomic.Bool
				before(w.nodes[source], nth, script(what), func() { happened.Store(true); test.do(w) })
				w.nodes[last].Flush()
				// As if the last node were an empty one: nothing but the copy can make it refuse.
				w.refused(c, "k", until, func() bool { return happened.Load() && vouched(w.nodes[last]) })
				w.blocksUntil(w.nodes[last], "k", "t1", until, ttl, 1600*ms) // a copy may hang, too
				w.refused(c, "k", until, nil)
				w.until("all vouched for", 10*time.Second, func() bool {
					for _, n := range w.nodes {
						if !vouched(n) && test.name != "source killed" {
							return false
						}
					}
					return true
				})
				w.free(c, "k", until)
			})
		})
	}
}
