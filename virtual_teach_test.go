package main

// How a node that forgot comes back, rule by rule and to the millisecond (P1 to P13).

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

// blank makes the fleet a new one.
func (w world) blank() {
	for i := range w.nodes {
		w.nodes[i] = quorumtest.NewBlankNode()
	}
}

// facts is what REDLOCK NODES tells of a node.
func (c *client) facts(node int) map[string]string {
	c.Helper()
	c.send("REDLOCK NODES")
	var found map[string]string
	for i := range length(c.receive()) {
		facts := map[string]string{}
		for range length(c.receive()) / 2 {
			name := c.receive()
			facts[name] = c.receive()
		}
		if i == node {
			found = facts
		}
	}
	return found
}

func length(header string) (n int) {
	fmt.Sscanf(header, "*%d", &n)
	return n
}

func (c *client) wantFact(node int, name, want string) {
	c.Helper()
	if got := c.facts(node)[name]; !like(got, want) {
		c.Fatalf("%s of node %d: %q, want %q", name, node+1, got, want)
	}
}

func TestP6VotesAgainAfterR(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		c := w.client(w.redlockd())
		startAnew(w.nodes[4])
		if spent := w.until("begun", time.Second, func() bool { return taught(w.nodes[4]) }); spent > 51*ms {
			w.Fatalf("begun after %v, want reconnect-min", spent)
		}
		c.wantFact(4, "vouched_why", "not vouched for: it has no mark…")
		c.wantFact(4, "teaching", "waiting for rounds in flight to end")
		spent := w.until("vouched for", time.Second, func() bool { return vouched(w.nodes[4]) })
		if want := quorum.WaitOut(roundLimit); spent < want-ms || spent > want+ms {
			w.Fatalf("vouched for after %v, want %v", spent, want)
		}
		w.nodes[0].Kill()
		w.nodes[1].Kill()
		time.Sleep(ms)
		c.want("SET k t NX PX 1000", "+OK", 0)
		c.wantFact(4, "vouched", "yes")
		c.wantFact(4, "vouched_why", "taught by 3 nodes, 0 locks copied")
		c.wantFact(4, "teaching", "")
		c.wantFact(0, "vouched_why", "not connected")
	})
}

// A vote that was counted before the node forgot, and two more that are on their way: they are not in the copy. By the
// time that the node votes again, the round they belong to is over.
func TestP6VotesInFlight(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		one := w.client(w.redlockd("--node-timeout", "450ms"))
		w.nodes[0].Put("k", "x", 5*ms)
		w.nodes[1].Put("k", "x", 5*ms)
		w.nodes[2].HoldConnections()
		w.nodes[3].HoldConnections()
		two := w.client(w.redlockd())
		one.send("SET k t1 NX PX 60000")
		time.Sleep(10 * ms)
		startAnew(w.nodes[4])
		time.Sleep(400 * ms)
		w.nodes[2].ReleaseConnections()
		w.nodes[3].ReleaseConnections()
		if got := one.receive(); got != "+OK" {
			w.Fatal(got)
		}
		w.refused(two, "k", time.Now().Add(2*time.Second), nil)
		if v, _ := w.nodes[4].Value("k"); v != "t1" {
			w.Fatalf("taught %q", v)
		}
	})
}

// The node forgets, or jumps, between the vote and what is read behind it: the vote does not count (P2).
func TestP2ForgottenBehindTheVote(t *testing.T) {
	for name, do := range map[string]func(*quorumtest.Node){
		"flush": flush, "restart": startAnew, "step": func(n *quorumtest.Node) { n.Step(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, 5, func(w world) {
				one, two := w.client(w.redlockd("--split-retries", "0")), w.client(w.redlockd())
				w.nodes[0].Put("k", "x", 50*ms)
				w.nodes[1].Put("k", "x", 50*ms)
				voted := false // read and written over one connection
				w.nodes[4].Before(func(args []string) {
					if args[0] == "SET" && args[1] == "k" && args[2] == "t1" {
						voted = true
					} else if voted {
						voted = false
						do(w.nodes[4])
					}
				})
				one.want("SET k t1 NX PX 60000", "-NOQUORUM 2 yes, 2 no, 1 unknown…", 0)
				w.wantHolders("k", "t1", 0)
				time.Sleep(2 * time.Second)
				two.want("SET k t2 NX PX 1000", "+OK", 0)
				w.wantHolders("k", "t2", 5)
			})
		})
	}
}

// A node that is not vouched for gets no takes and no extends: only what frees locks, and those that were granted.
func TestP2UnvouchedNodesAreNotAsked(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[4].Flush()
		w.until("begun", time.Second, func() bool { return taught(w.nodes[4]) })
		before := len(w.nodes[4].Seen("SET"))
		c.want("SET k t NX PX 1000", "+OK", 0)
		c.want("EVAL "+extend+" 1 k t 5000", ":1", 0)
		synctest.Wait()
		if got := w.nodes[4].Seen("SET"); len(got) != before {
			w.Fatal(got)
		}
		w.blocksUntil(w.nodes[4], "k", "t", time.Now().Add(5*time.Second), 5*time.Second, 0) // a top-up
		c.want("EVAL "+release+" 1 k t", ":1", 0)
		w.wantHolders("k", "t", 0)
		if vouched(w.nodes[4]) {
			w.Fatal("vouched for too early to tell")
		}
	})
}

// Between the last look at the node and the word that it votes again there is a moment as well (P9).
func TestP9ForgottenBeforeTheVouch(t *testing.T) {
	for name, do := range map[string]func(*quorumtest.Node){
		"flush": flush, "restart": startAnew, "step": func(n *quorumtest.Node) { n.Step(time.Minute) },
	} {
		for _, what := range []string{vouchScript, tendScript} {
			t.Run(name, func(t *testing.T) {
				virtual(t, 5, func(w world) {
					w.guardMarks()
					one, two := w.redlockd(), w.redlockd()
					last, ttl := w.nodes[4], 3*time.Second
					var merged, done atomic.Bool
					until := w.heldByLast(3, w.client(one), "k", ttl)
					before(last, 1, func(args []string) bool {
						if runs(args, mergeScript) {
							merged.Store(true)
						}
						return merged.Load() && runs(args, what)
					}, func() { done.Store(true); do(last) })
					flush(last)
					c := w.client(two)
					w.refused(c, "k", until, func() bool { return done.Load() && vouched(last) })
					w.blocksUntil(last, "k", "t1", until, ttl, 0)
					w.refused(c, "k", until, nil)
					w.free(c, "k", until)
				})
			})
		}
	}
}

func TestR21TwoNodesAtOnce(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		one, two := w.redlockd(), w.redlockd()
		ttl := 3 * time.Second
		until := w.heldByLast(3, w.client(one), "k", ttl)
		startAnew(w.nodes[3])
		startAnew(w.nodes[4])
		c := w.client(two)
		w.refused(c, "k", until, w.allVouched)
		w.blocksUntil(w.nodes[3], "k", "t1", until, ttl, 0)
		w.blocksUntil(w.nodes[4], "k", "t1", until, ttl, 0)
		time.Sleep(time.Second)
		w.nodes[2].Kill()
		w.refused(c, "k", until, nil)
		w.free(c, "k", until)
	})
}

// The redlockd that teaches is gone in the middle of it; the other begins anew, at the latest when its lease is over.
func TestR21TeacherGone(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		w.filler(150)
		one, end := w.start()
		last, ttl := w.nodes[4], 6*time.Second
		until := w.heldByLast(3, w.client(one), "k", ttl)
		gone := make(chan time.Time, 1)
		before(w.nodes[2], 2, script(pageScript), func() {
			gone <- time.Now()
			go end()
			time.Sleep(300 * ms) // it does not get any further
		})
		last.Flush()
		w.until("begun", time.Second, func() bool { return taught(last) })
		c := w.client(w.redlockd())
		w.refused(c, "k", until, func() bool { return vouched(last) })
		if spent := time.Since(<-gone); spent < roundLimit || spent > 4200*ms {
			w.Fatalf("vouched for %v after the teacher was gone", spent)
		}
		w.blocksUntil(last, "k", "t1", until, ttl, 0)
		w.refused(c, "k", until, nil)
		w.free(c, "k", until)
	})
}

// An extend that a copy meets, before or after it, is not shortened by it.
func TestR21ExtendRacesTheCopy(t *testing.T) {
	for _, when := range []string{mergeScript, vouchScript} {
		virtual(t, 5, func(w world) {
			one, two := w.client(w.redlockd()), w.client(w.redlockd())
			one.want("SET k t1 NX PX 2000", "+OK", 0)
			last := w.nodes[4]
			var until time.Time
			before(last, 1, script(when), func() {
				until = time.Now().Add(5 * time.Second)
				if got := one.do("EVAL " + extend + " 1 k t1 5000"); got != ":1" {
					w.Error(got)
				}
				time.Sleep(ms) // it is topped up
			})
			last.Flush()
			w.until("vouched for", 3*time.Second, func() bool { return vouched(last) })
			synctest.Wait()
			w.blocksUntil(last, "k", "t1", until, 5*time.Second, 0)
			w.nodes[0].Kill()
			w.nodes[1].Kill()
			w.refused(two, "k", until, nil)
		})
	}
}

// A snapshot has the lock as it was before it was extended.
func TestR21SnapshotBeforeAnExtend(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		w.heldByLast(3, one, "k", 1500*ms)
		last, ttl := w.nodes[4], 4*time.Second
		last.Save()
		until := time.Now().Add(ttl)
		one.want("EVAL "+extend+" 1 k t1 4000", ":1", 0)
		synctest.Wait()
		w.nodes[0].Put("k", "", ms) // it was topped up
		w.nodes[1].Put("k", "", ms)
		restore(last)
		w.refused(two, "k", until, func() bool { return vouched(last) })
		w.blocksUntil(last, "k", "t1", until, ttl, 0)
		w.refused(two, "k", until, nil)
		w.free(two, "k", until)
	})
}

// A lock that is released while it is copied is released again on the node that was taught.
func TestR21ReleaseRacesTheCopy(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		one.want("SET k t1 NX PX 4000", "+OK", 0)
		last := w.nodes[4]
		before(last, 1, script(mergeScript), func() {
			if got := one.do("EVAL " + release + " 1 k t1"); got != ":1" {
				w.Error(got)
			}
			time.Sleep(ms) // the node that is taught has got it as well
		})
		last.Flush()
		w.until("vouched for", 3*time.Second, func() bool { return vouched(last) })
		time.Sleep(time.Second)
		w.wantHolders("k", "t1", 0)
		two.want("SET k t2 NX PX 60000", "+OK", 0)
		two.want("GET k", "t2", 0)
		w.wantHolders("k", "t2", 5)
	})
}

func TestP11NewFleet(t *testing.T) {
	for _, many := range []int{1, 2} {
		virtual(t, 5, func(w world) {
			w.blank()
			w.guardMarks()
			began := time.Now()
			var clients []*client
			for range many {
				clients = append(clients, w.client(w.redlockd()))
			}
			for _, c := range clients {
				c.want("SET early t NX PX 1000", "-NOQUORUM 0 yes, 0 no, 5 unknown of 5 nodes, need 3 (node:1: not vouched for: …", 0)
			}
			w.until("vouched for", time.Second, w.allVouched)
			if spent := time.Since(began); spent < quorum.WaitOut(roundLimit) || spent > time.Second {
				w.Fatalf("vouched for after %v", spent)
			}
			for i, c := range clients {
				w.until("granted", 600*ms, func() bool { return c.do(fmt.Sprintf("SET k%d t NX PX 60000", i)) == "+OK" })
			}
		})
	}
}

// A new fleet can not be told from one that has lost all memory, unless all of it answers.
func TestP11NewFleetWithOneMissing(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.blank()
		w.guardMarks()
		w.nodes[3].Unplug()
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		for range 30 {
			time.Sleep(time.Second)
			one.want("SET k t NX PX 1000", "-NOQUORUM 0 yes, 0 no, 5 unknown …", 0)
			two.want("SET k t NX PX 1000", "-NOQUORUM 0 yes, 0 no, 5 unknown …", 0)
		}
		one.wantFact(0, "vouched", "no")
		w.nodes[3].Start()
		w.until("vouched for", 4*time.Second, w.allVouched)
		w.until("granted", 600*ms, func() bool { return one.do("SET k t NX PX 1000") == "+OK" })
	})
}

// What is begun on a new fleet counts for nothing once a node has lost our mark.
func TestP11NewFleetForgetsAgain(t *testing.T) {
	for name, forget := range map[string]func(*quorumtest.Node){"flush": flush, "restart": startAnew} {
		for _, when := range []time.Duration{250 * ms, 506 * ms} {
			t.Run(name, func(t *testing.T) {
				virtual(t, 5, func(w world) {
					w.blank()
					w.guardMarks()
					w.redlockd()
					w.until("begun", time.Second, func() bool { return taught(w.nodes[4]) })
					time.Sleep(when)
					forget(w.nodes[2])
					for range 495 { // whatever was begun before
						time.Sleep(ms)
						if vouched(w.nodes[0]) || vouched(w.nodes[2]) {
							w.Fatal("vouched for")
						}
					}
					w.until("vouched for", 3*time.Second, w.allVouched)
				})
			})
		}
	}
}

// A copy that was on its way for long, while the node was taught by another lesson and has voted since, does nothing.
func TestP8LateCopy(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.want("SET k t1 NX PX 60000", "+OK", 0)
		last := w.nodes[4]
		before(last, 1, script(mergeScript), func() { time.Sleep(10 * time.Second) })
		last.Flush()
		w.until("vouched for", 5*time.Second, func() bool { return vouched(last) })
		time.Sleep(time.Second)
		c.want("EVAL "+release+" 1 k t1", ":1", 0)
		c.want("SET k t2 NX PX 60000", "+OK", 0)
		w.wantHolders("k", "t2", 5)
		time.Sleep(10 * time.Second)
		w.wantHolders("k", "t2", 5)
	})
}

// A node that comes back with the lock as it was before it was extended has it for as long as the others (P8).
func TestP8OldCopyIsLengthened(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		c := w.client(w.redlockd())
		c.want("SET k t1 NX PX 5000", "+OK", 0)
		last := w.nodes[4]
		synctest.Wait()
		last.Save()
		until := time.Now().Add(time.Minute)
		c.want("EVAL "+extend+" 1 k t1 60000", ":1", 0)
		synctest.Wait()
		restore(last)
		w.until("vouched for", 3*time.Second, func() bool { return vouched(last) })
		w.blocksUntil(last, "k", "t1", until, time.Minute, 0)
	})
}
