package main

// Locks on more nodes than granted them (top-ups), keys that are held by somebody unknown (P8), and all of it at once.

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

// A node that was away during a take has the lock when it is back in time, and for no longer than the others.
func TestTopUpAfterATake(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		w.nodes[3].Unplug()
		w.nodes[4].Unplug()
		w.nodes[3].Put("another", "a", time.Minute)
		synctest.Wait()
		until := time.Now().Add(10 * time.Second)
		one.want("SET k t NX PX 10000", "+OK", 0)
		one.want("SET short t NX PX 1000", "+OK", 0)
		one.want("SET another t NX PX 60000", "+OK", 0)
		w.wantHolders("k", "t", 3)
		time.Sleep(2 * time.Second)
		w.nodes[3].Start()
		time.Sleep(3 * time.Second)
		w.wantHolders("k", "t", 4)
		w.wantHolders("short", "t", 0)
		w.wantHolders("another", "t", 3)
		w.wantHolders("another", "a", 1)
		w.blocksUntil(w.nodes[3], "k", "t", until, 10*time.Second, 0)
		w.nodes[0].Kill()
		w.refused(two, "k", until, nil)
		w.free(two, "k", until)
		time.Sleep(2 * time.Second)
		w.nodes[4].Start()
		time.Sleep(3 * time.Second)
		w.wantHolders("k", "t", 0)
	})
}

// A connection that broke with the take under way: the node has not got it, and is told again.
func TestTopUpAfterALostTake(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[4].HoldConnections()
		c.want("SET k t NX PX 10000", "+OK", 0)
		w.wantHolders("k", "t", 4)
		w.nodes[4].Cut()
		w.nodes[4].ReleaseConnections()
		time.Sleep(60 * ms)
		w.wantHolders("k", "t", 5)
	})
}

// Only a grant puts a lock where it is missing.
func TestTopUpAfterAnExtend(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		lose := func(nodes ...int) {
			for _, i := range nodes {
				w.nodes[i].Put("k", "", ms)
			}
			time.Sleep(ms)
		}
		c.want("SET k t NX PX 10000", "+OK", 0)
		lose(3, 4)
		c.want("EVAL "+extend+" 1 k other 20000", ":0", 0)
		w.wantHolders("k", "other", 0)
		w.wantHolders("k", "t", 3)
		until := time.Now().Add(20 * time.Second)
		c.want("EVAL "+extend+" 1 k t 20000", ":1", 0)
		w.wantHolders("k", "t", 5)
		w.blocksUntil(w.nodes[4], "k", "t", until, 20*time.Second, 0)
		lose(2, 3, 4)
		c.want("EVAL "+extend+" 1 k t 30000", ":0", 0)
		w.wantHolders("k", "t", 2)
		c.want("EVAL "+release+" 1 k t", ":0", 0)
		w.wantHolders("k", "t", 0)
		w.nodes[4].Put("k", "another", time.Minute)
		c.want("SET k t NX PX 10000", "+OK", 0)
		c.want("EVAL "+extend+" 1 k t 20000", ":1", 0)
		w.wantHolders("k", "another", 1) // never in the place of another
	})
}

// What was owed for the lock is followed by what is owed for its end.
func TestTopUpThenRelease(t *testing.T) {
	for _, granted := range []bool{true, false} {
		virtual(t, 5, func(w world) {
			c := w.client(w.redlockd())
			w.nodes[4].Unplug()
			c.want("SET k t NX PX 60000", "+OK", 0)
			if !granted {
				w.nodes[2].Refuse("MISCONF no disk")
				w.nodes[3].Refuse("MISCONF no disk")
				c.want("EVAL "+release+" 1 k t", "-NOQUORUM…", 0)
				w.nodes[2].Refuse("")
				w.nodes[3].Refuse("")
			} else {
				c.want("EVAL "+release+" 1 k t", ":1", 0)
			}
			time.Sleep(time.Second)
			w.nodes[4].Start()
			time.Sleep(3 * time.Second)
			w.wantHolders("k", "t", 0)
		})
	}
}

// A top-up that a node has refused is not tried again when the lock may be over.
func TestTopUpRefused(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[4].Refuse("MISCONF no disk")
		c.want("SET k t NX PX 60000", "+OK", 0)
		synctest.Wait()
		w.nodes[4].Refuse("")
		c.want("EVAL "+release+" 1 k t", ":1", 0)
		time.Sleep(2 * time.Second)
		w.wantHolders("k", "t", 0)
	})
}

// Two nodes say different things about a key, and one is taught by both: which of them is right is not known, so that
// it lets nobody have it.
func TestP8Blocker(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for i, n := range w.nodes[:4] {
			n.Put("k", []string{"a", "b"}[i%2], time.Duration(20+10*(i%2))*time.Second)
		}
		until := time.Now().Add(30 * time.Second)
		startAnew(w.nodes[4])
		w.until("vouched for", 2*time.Second, func() bool { return vouched(w.nodes[4]) })
		time.Sleep(ms)
		w.blocksUntil(w.nodes[4], "k", quorum.Blocker, until, 30*time.Second, 0)
		for _, command := range []string{
			"GET k", "TTL k", "SET k c NX PX 1000", "EVAL " + extend + " 1 k a 29000", "EVAL " + extend + " 1 k c 29000",
			"EVAL " + release + " 1 k c", "EVAL " + release + " 1 k a", "SET k c NX PX 1000", "GET k", "MGET k",
		} {
			if got := c.do(command); strings.Contains(got, "blocked") || got == "+OK" || got == ":1" {
				w.Fatalf("%s: %s", command, got)
			}
		}
		if v, _ := w.nodes[4].Value("k"); v != quorum.Blocker {
			w.Fatalf("the blocker has become %q", v)
		}
		for _, command := range []string{"SET k redlockd:blocked NX PX 1000", "EVAL " + release + " 1 k redlockd:blocked"} {
			c.want(command, "-ERR …", 0)
		}
		time.Sleep(time.Until(until) - 10*ms)
		if _, ok := w.nodes[4].Value("k"); !ok {
			w.Fatal("it has ended too early")
		}
		time.Sleep(20 * ms)
		c.want("SET k c NX PX 1000", "+OK", 0)
		w.wantHolders("k", "c", 5)
	})
}

// A majority is blocked.
func TestP8AllBlocked(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Put("k", quorum.Blocker, 10*time.Second)
		}
		const why = "(node:…: the key is held by somebody unknown since the node was taught…"
		c.want("SET k c NX PX 1000", "nil", 0)
		c.want("GET k", "-NOQUORUM …"+why, 0)
		c.want("PTTL k", "-NOQUORUM …"+why, 0)
		c.want("EVAL "+release+" 1 k c", "-NOQUORUM …"+why, 0)
		c.want("EVAL "+extend+" 1 k c 60000", "-NOQUORUM …"+why, 0)
		time.Sleep(9 * time.Second)
		w.wantHolders("k", quorum.Blocker, 3)
		time.Sleep(time.Second)
		c.want("SET k c NX PX 1000", "+OK", 0)
	})
}

var soakSeed = flag.Uint64("soak-seed", 0, "of TestR21Soak; 0: another each time")

// arena knows who believes to hold what.
type arena struct {
	mu      sync.Mutex
	holder  map[string]string
	until   map[string]time.Time
	granted int
	seed    uint64
}

// enter the belief to hold key until then.
func (a *arena) enter(w world, key, token string, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holder[key] != "" && a.holder[key] != token && time.Now().Before(a.until[key]) {
		w.Errorf("seed %d: %s was granted %s, which %s holds for %v more, at %v", a.seed, token, key,
			a.holder[key], time.Until(a.until[key]), time.Since(w.started))
	}
	a.holder[key], a.until[key] = token, until
	a.granted++
}

func (a *arena) leave(key, token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holder[key] == token {
		a.holder[key] = ""
	}
}

// fight for locks until end: take one, extend it or not, release it or not.
func (a *arena) fight(w world, c *client, r *rand.Rand, name int, end time.Time) {
	for round := 0; time.Now().Before(end); round++ {
		key, token := fmt.Sprintf("k%d", r.IntN(3)), fmt.Sprintf("t%d.%d", name, round)
		ttl := time.Duration(100+r.IntN(4000)) * ms
		began := time.Now()
		if c.do(fmt.Sprintf("SET %s %s NX PX %d", key, token, ttl.Milliseconds())) == "+OK" {
			a.enter(w, key, token, began.Add(ttl))
			time.Sleep(time.Duration(r.Int64N(int64(ttl))))
			if r.IntN(2) == 0 {
				began = time.Now()
				if c.do(fmt.Sprintf("EVAL %s 1 %s %s %d", extend, key, token, ttl.Milliseconds())) == ":1" {
					a.enter(w, key, token, began.Add(ttl))
					time.Sleep(time.Duration(r.Int64N(int64(ttl))))
				}
			}
			a.leave(key, token) // from here on it does not rely on it
			if r.IntN(4) > 0 {
				c.do("EVAL " + release + " 1 " + key + " " + token)
			}
		}
		time.Sleep(time.Duration(20+r.IntN(150)) * ms)
	}
}

// trouble for one node, of the kinds that it can stand alone: it forgets, its clock jumps, it hangs, is cut off. It says
// whether the node must be taught.
func trouble(r *rand.Rand, n *quorumtest.Node) (forgot bool) {
	pause := func(most int) { time.Sleep(time.Duration(r.IntN(most)) * ms) }
	kind := r.IntN(10)
	switch kind {
	case 0:
		n.Kill()
		pause(300)
		n.Start()
	case 1:
		startAnew(n)
	case 2:
		n.Flush()
	case 3:
		n.Save()
		pause(500)
		restore(n)
	case 4:
		n.Step(time.Duration(100+r.IntN(60000)) * ms)
	case 5:
		n.Step(-time.Duration(100+r.IntN(3000)) * ms)
	case 6:
		n.Hang()
		pause(1500)
		n.Resume()
	case 7:
		n.Unplug()
		pause(500)
		n.Start()
	case 8:
		n.Cut()
	case 9:
		n.HoldConnections()
		pause(300)
		n.ReleaseConnections()
	}
	return kind < 6
}

// Clients of two redlockd fight for three keys for a minute, while one node after the other forgets, jumps or is away, the next
// only when all are vouched for again; meanwhile any node may be slow or lose its connections. Nobody ever believes to
// hold what another does.
func TestR21Soak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	virtual(t, 5, func(w world) {
		w.guardMarks()
		lns := []*quorumtest.Listener{w.redlockd(), w.redlockd()}
		a := &arena{holder: map[string]string{}, until: map[string]time.Time{}, seed: seed}
		end := time.Now().Add(time.Minute)
		var wait sync.WaitGroup
		for i := range 6 {
			c := w.client(lns[i%2])
			wait.Go(func() { a.fight(w, c, rand.New(rand.NewPCG(seed, uint64(i))), i, end) })
		}
		wait.Go(func() { // what every node can stand at any time
			for r := rand.New(rand.NewPCG(seed, 100)); time.Now().Before(end); {
				n := w.nodes[r.IntN(5)]
				n.Slow(time.Duration(r.IntN(40)) * ms)
				time.Sleep(time.Duration(r.IntN(400)) * ms)
				n.Slow(0)
				if r.IntN(3) == 0 {
					w.nodes[r.IntN(5)].Cut()
				}
			}
		})
		troubles := 0
		for r := rand.New(rand.NewPCG(seed, 101)); time.Now().Before(end); troubles++ {
			n := w.nodes[r.IntN(5)]
			if mark := markOf(n); trouble(r, n) {
				w.until(fmt.Sprintf("noticed (seed %d, trouble %d)", seed, troubles), 5*time.Second, func() bool { return markOf(n) != mark })
			}
			w.until(fmt.Sprintf("vouched for (seed %d, trouble %d)", seed, troubles), 45*time.Second, w.allVouched)
			time.Sleep(time.Duration(r.IntN(300)) * ms)
		}
		wait.Wait()
		synctest.Wait()
		if a.granted < 30 || troubles < 10 {
			w.Errorf("seed %d: only %d locks granted, %d troubles", seed, a.granted, troubles)
		}
		w.Logf("seed %d: %d locks granted, %d troubles", seed, a.granted, troubles)
	})
}
