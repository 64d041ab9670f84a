package main

// Nodes whose clocks jump or run wrong (R24), and fleets of which too few are left to teach (P10, P13).

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
)

// The last of the three nodes that hold the lock thinks that it is over.
func TestR24StepForward(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		last, ttl := w.nodes[4], 5*time.Second
		until := w.heldByLast(3, one, "k", ttl)
		mark := markOf(last)
		last.Step(30 * time.Second)
		w.refused(two, "k", until, func() bool { return markOf(last) != mark })
		w.until("unvouched", time.Second, func() bool { return !vouched(last) })
		two.wantFact(4, "vouched", "no")
		two.wantFact(4, "vouched_why", "not vouched for: its clock jumped, it gained 30s …")
		w.refused(two, "k", until, func() bool { return vouched(last) })
		w.blocksUntil(last, "k", "t1", until, ttl, 0)
		if off := markOf(last).Offset; off < 30*time.Second-ms || off > 30*time.Second+ms {
			w.Fatal(off)
		}
		time.Sleep(time.Second)
		if off := two.facts(4)["clock_offset_ms"]; off != ":30000" && off != ":29999" {
			w.Fatal(off)
		}
		w.nodes[3].Kill()
		w.refused(two, "k", until, nil)
		w.free(two, "k", until)
	})
}

// That a node has the key counts, whatever else is in doubt about it (P2): denied, not undecided.
func TestR24NoOfADoubtedNodeCounts(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd("--split-retries", "0"))
		for _, n := range w.nodes[2:] {
			n.Put("k", "x", time.Minute)
		}
		w.nodes[4].Before(func(args []string) {
			if args[0] == "SET" {
				w.nodes[4].Step(time.Second)
			}
		})
		c.want("SET k t NX PX 1000", "nil", 0)
		w.wantHolders("k", "t", 0)
		c.wantFact(4, "vouched", "no")
	})
}

// Nobody was there when the clock jumped: the mark tells.
func TestR24StepBeforeTheStart(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		one, end := w.start()
		last, ttl := w.nodes[4], 5*time.Second
		until := w.heldByLast(3, w.client(one), "k", ttl)
		end()
		last.Step(30 * time.Second)
		two := w.client(w.redlockd())
		two.wantFact(4, "vouched_why", "not vouched for: its clock jumped, it gained 30s …")
		w.refused(two, "k", until, func() bool { return markOf(last).Offset > 0 && vouched(last) })
		w.blocksUntil(last, "k", "t1", until, ttl, 0)
		w.refused(two, "k", until, nil)
		w.free(two, "k", until)
	})
}

func TestR24StepBack(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		last, ttl := w.nodes[4], 3*time.Second
		until := w.heldByLast(3, one, "k", ttl)
		last.Step(-time.Second)
		w.refused(two, "k", until, func() bool { return !vouched(last) })
		two.wantFact(4, "vouched_why", "…clock jumped, it lost 1s …")
		w.refused(two, "k", until, func() bool { return markOf(last).Offset < 0 })
		w.refused(two, "k", until, nil)
		w.free(two, "k", until) // on the others
	})
}

// A clock that stands still, or runs too fast by more than locks are padded with, is never right for long.
func TestR24ClockRunsWrong(t *testing.T) {
	for _, rate := range []float64{0, 0.9, 1.02, 1.5} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			virtual(t, 5, func(w world) {
				w.guardMarks()
				one, two := w.client(w.redlockd()), w.client(w.redlockd())
				last, ttl := w.nodes[4], 10*time.Second
				until := w.heldByLast(3, one, "k", ttl)
				last.Rate(rate)
				w.refused(two, "k", until, nil)
				if vouched(last) {
					w.Fatal("it is still vouched for")
				}
				two.wantFact(4, "vouched_why", "…clock jumped, it …")
				two.want("EVAL "+release+" 1 k t2", ":0", 0)
				w.free(two, "k", until)
				last.Rate(1)
				w.until("vouched for", 32*time.Second, func() bool { return vouched(last) })
			})
		})
	}
}

// Clocks within what is tolerated are left alone.
func TestR24HealthyClocks(t *testing.T) {
	virtual(t, 5, func(w world) {
		one := w.client(w.redlockd())
		w.nodes[0].Rate(1.001)
		w.nodes[1].Rate(0.999)
		w.nodes[2].Step(ms)
		marks := w.marks()
		for i := range 20 {
			time.Sleep(time.Second)
			one.want(fmt.Sprintf("SET k%d t NX PX 1000", i), "+OK", 0)
		}
		if w.marks() != marks {
			w.Fatal("a mark has changed")
		}
		for i, want := range []int{1000, -1000, 0} {
			var ppm int
			if fmt.Sscanf(one.facts(i)["clock_drift_ppm"], ":%d", &ppm); ppm < want-60 || ppm > want+60 {
				w.Fatalf("drift of node %d: %d ppm, want about %d", i+1, ppm, want)
			}
		}
	})
}

func (w world) marks() string {
	var all []string
	for _, n := range w.nodes {
		all = append(all, markOf(n).String())
	}
	return strings.Join(all, " ")
}

// A majority of the clocks has moved by the same: it was we who stood still. What was under way does not count, and
// nobody is condemned.
func TestR24WeWerePaused(t *testing.T) {
	for _, moved := range []int{3, 5} {
		virtual(t, 5, func(w world) {
			one := w.client(w.redlockd())
			marks := w.marks()
			for _, n := range w.nodes {
				n.Slow(20 * ms)
			}
			one.send("SET k t NX PX 60000")
			time.Sleep(10 * ms)
			for _, n := range w.nodes[:moved] {
				n.Step(20 * time.Second)
			}
			if got := one.receive(); !like(got, "-NOQUORUM …its clock jumped, it gained 20.01s…") {
				w.Fatal(got)
			}
			for _, n := range w.nodes {
				n.Slow(0)
			}
			time.Sleep(1100 * ms)
			w.wantHolders("k", "t", 0)
			one.want("SET k2 t NX PX 60000", "+OK", 0)
			w.wantHolders("k2", "t", 5)
			if w.marks() != marks {
				w.Fatal("a mark has changed")
			}
			one.wantFact(0, "vouched", "yes")
			two := w.client(w.redlockd()) // whose wall clock is wrong as well
			time.Sleep(1100 * ms)
			two.want("SET k3 t NX PX 60000", "+OK", 0)
			if w.marks() != marks {
				w.Fatal("a mark has changed")
			}
		})
	}
}

// Of three nodes one is down and one has forgotten: one is left, who cannot say for both.
func threeNodes(t *testing.T, flags []string, test func(w world, c *client, until time.Time)) {
	virtual(t, 3, func(w world) {
		w.guardMarks()
		for _, n := range w.nodes {
			n.Configure("appendonly", "yes")
		}
		c := w.client(w.redlockd(flags...))
		until := time.Now().Add(2 * time.Second)
		c.want("SET k t1 NX PX 2000", "+OK", 0)
		w.wantHolders("k", "t1", 3)
		w.nodes[2].Put("k", "", ms) // so that only a node that is away, and one that forgot, have it
		w.nodes[0].Unplug()
		synctest.Wait()
		w.nodes[1].Save()
		synctest.Wait()
		test(w, c, until)
	})
}

func (w world) begun(i int) {
	w.Helper()
	w.until("begun", time.Second, func() bool { return taught(w.nodes[i]) })
}

func TestP10ThreeNodes(t *testing.T) {
	threeNodes(t, nil, func(w world, c *client, until time.Time) {
		startAnew(w.nodes[1])
		w.begun(1)
		time.Sleep(10 * time.Second)
		c.want("SET k2 t NX PX 1000", "-NOQUORUM …2 unknown…of 3 nodes, need 2 (node:1: …; node:2: not vouched for: it has no mark…", 0)
		c.wantFact(1, "teaching", "1 of 2 other nodes can teach it: waiting for more, or until the longest lock has ended in 24h…(see REDLOCK ADMIT)")
		c.wantFact(0, "health", "down")
		w.nodes[0].Start()
		w.until("vouched for", 2200*ms, func() bool { return vouched(w.nodes[1]) })
		time.Sleep(ms)
		c.want("SET k2 t NX PX 1000", "+OK", 0)
		c.wantFact(1, "vouched_why", "taught by 2 nodes, …")
	})
}

func TestP10Admit(t *testing.T) {
	threeNodes(t, nil, func(w world, c *client, until time.Time) {
		c.want("REDLOCK ADMIT node:3", "-ERR it is vouched for", 0)
		c.want("REDLOCK ADMIT node:1", "-ERR it is not connected…", 0)
		startAnew(w.nodes[1])
		w.begun(1)
		c.want("REDLOCK ADMIT node:2", "+OK", 0)
		spent := w.until("vouched for", time.Second, func() bool { return vouched(w.nodes[1]) })
		if want := quorum.WaitOut(roundLimit); spent < want-2*ms || spent > want+60*ms {
			w.Fatalf("vouched for after %v", spent)
		}
		synctest.Wait()
		c.want("SET k2 t NX PX 1000", "+OK", 0)
		c.wantFact(1, "vouched_why", "admitted by an operator, taught by 1 nodes of 2, 0 locks copied")
	})
}

// The longest lock has ended when the node votes again; not before.
func TestP10WaitsForTheLongestLock(t *testing.T) {
	threeNodes(t, []string{"--max-ttl", "2s"}, func(w world, c *client, until time.Time) {
		startAnew(w.nodes[1])
		w.begun(1)
		began := time.Now()
		w.refused(c, "k", until, nil)
		w.until("vouched for", time.Second, func() bool { return vouched(w.nodes[1]) })
		want := quorum.WaitOut(quorum.Pad(2 * time.Second))
		if spent := time.Since(began); spent < want-2*ms || spent > want+2*ms {
			w.Fatalf("vouched for after %v, want %v", spent, want)
		}
		time.Sleep(ms)
		c.want("SET k2 t NX PX 1000", "+OK", 0)
		c.wantFact(1, "vouched_why", "waited for the longest lock to end…")
	})
}

// A node that has kept everything, by its own word, only waits for rounds in flight; unless it was not vouched for before, or
// writes to its disk now and then.
func TestP13KeptOnDisk(t *testing.T) {
	threeNodes(t, nil, func(w world, c *client, until time.Time) {
		w.nodes[1].Configure("appendfsync", "always")
		restore(w.nodes[1])
		w.begun(1)
		began := time.Now()
		w.refused(c, "k", until, func() bool { return vouched(w.nodes[1]) })
		if spent, want := time.Since(began), quorum.WaitOut(roundLimit); spent < want-2*ms || spent > want+40*ms {
			w.Fatalf("vouched for after %v", spent)
		}
		w.refused(c, "k", until, nil)
		w.free(c, "k", until)
		c.wantFact(1, "vouched_why", "it has kept everything on disk, taught by 1 nodes of 2, …")
	})
	for name, change := range map[string]func(w world){
		"everysec":    func(w world) {},
		"was unknown": func(w world) { w.nodes[1].Configure("appendfsync", "always"); w.nodes[1].Flush(); w.nodes[1].Save() },
		"replica": func(w world) {
			w.nodes[1].Configure("appendfsync", "always")
			w.nodes[1].Say("second_repl_offset", "17")
		},
		"no file": func(w world) {
			w.nodes[1].Configure("appendfsync", "always")
			w.nodes[1].Configure("appendonly", "no")
		},
	} {
		t.Run(name, func(t *testing.T) {
			threeNodes(t, nil, func(w world, c *client, until time.Time) {
				change(w)
				restore(w.nodes[1])
				w.begun(1)
				time.Sleep(3 * time.Second)
				if vouched(w.nodes[1]) {
					w.Fatal("vouched for")
				}
			})
		})
	}
}

// A part of a new fleet that nobody has vouched for may vote when the longest lock has ended (R23).
func TestP10BlankWithOneMissing(t *testing.T) {
	virtual(t, 3, func(w world) {
		w.blank()
		w.nodes[0].Unplug()
		c := w.client(w.redlockd("--max-ttl", "2s"))
		spent := w.until("vouched for", 3*time.Second, func() bool { return vouched(w.nodes[1]) && vouched(w.nodes[2]) })
		if want := quorum.WaitOut(quorum.Pad(2 * time.Second)); spent < want {
			w.Fatalf("vouched for after %v, want %v", spent, want)
		}
		time.Sleep(600 * ms)
		c.want("SET k t NX PX 1000", "+OK", 0)
	})
}

// Three of five forgot: too few are left to teach them, and what is left is no new fleet.
func TestP10TooFewTeachers(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		c := w.client(w.redlockd("--max-ttl", "5s"))
		for _, n := range w.nodes[:3] {
			n.Flush()
		}
		w.until("begun", time.Second, func() bool { return taught(w.nodes[2]) })
		time.Sleep(4900 * ms)
		c.want("SET k t NX PX 1000", "-NOQUORUM …3 unknown…not vouched for: it has no mark…", 0)
		c.wantFact(1, "teaching", "2 of 3 other nodes can teach it: waiting for more, or until the longest lock has ended in…(see REDLOCK ADMIT)")
		w.until("vouched for", time.Second, w.allVouched)
		if why := c.facts(1)["vouched_why"]; strings.Contains(why, "mark") {
			w.Fatal(why)
		}
	})
}

// A jump while the node was cut off, too small for wall clocks to tell, is seen by what was known of its clock before (P4).
func TestP4JumpBetweenTwoConnections(t *testing.T) {
	virtual(t, 3, func(w world) {
		w.guardMarks()
		w.redlockd()
		time.Sleep(time.Second)
		last := w.nodes[2]
		before := markOf(last).Nonce
		last.Cut()
		last.Step(400 * ms)
		w.until("taught anew", 3*time.Second, func() bool { return vouched(last) && markOf(last).Nonce != before })
	})
}

// A doubt about clocks that nobody has witnessed is settled in time, however often the connections are lost meanwhile (P4).
func TestR24DoubtOutlivesConnections(t *testing.T) {
	virtual(t, 3, func(w world) {
		w.nodes[0].Step(10 * time.Second)
		w.nodes[1].Step(-10 * time.Second)
		w.redlockd("--max-ttl", "1s")
		for range 8 { // in 2.4 seconds
			time.Sleep(300 * ms)
			w.nodes[0].Cut()
			w.nodes[1].Cut()
			if !vouched(w.nodes[0]) && !vouched(w.nodes[1]) {
				return
			}
		}
		w.Fatal("nodes whose clocks are certainly wrong are vouched for still")
	})
}
