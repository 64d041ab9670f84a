package main

// The rules of Redlock, one by one, in virtual time.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum/quorumtest"
)

func TestR1OneHolder(t *testing.T) {
	virtual(t, 5, func(w world) {
		a, b := w.client(w.redlockd()), w.client(w.redlockd())
		a.want("SET k t1 NX PX 1000", "+OK", 0)
		w.wantHolders("k", "t1", 5)
		b.want("SET k t2 NX PX 1000", "nil", 0)
		b.want("GET k", "t1", 0)
		w.wantHolders("k", "t1", 5)
	})
}

// Many clients of two redlockd fight for one key while nodes hang, are slow, and lose connections.
// Nobody ever believes to hold it while somebody else does.
func TestR1UnderFire(t *testing.T) {
	virtual(t, 5, func(w world) {
		lns := []*quorumtest.Listener{w.redlockd(), w.redlockd()}
		var mu sync.Mutex
		holder, granted := "", 0
		var until time.Time
		end := time.Now().Add(20 * time.Second)
		var wait sync.WaitGroup
		for i := range 8 {
			c := w.client(lns[i%2])
			wait.Go(func() {
				for round := 0; time.Now().Before(end); round++ {
					token := fmt.Sprintf("t%d.%d", i, round)
					began := time.Now()
					if c.do("SET k "+token+" NX PX 200") == "+OK" {
						mu.Lock()
						if holder != "" && time.Now().Before(until) {
							w.Errorf("%s was granted while %s holds", token, holder)
						}
						holder, until = token, began.Add(200*ms)
						granted++
						mu.Unlock()
						time.Sleep(time.Duration(rand.IntN(250)) * ms)
						mu.Lock()
						if holder == token {
							holder = ""
						}
						mu.Unlock()
						c.do("EVAL " + release + " 1 k " + token)
					}
					time.Sleep(time.Duration(rand.IntN(20)) * ms)
				}
			})
		}
		for time.Now().Before(end) {
			n := w.nodes[rand.IntN(5)]
			switch rand.IntN(3) {
			case 0:
				n.Hang()
				time.Sleep(time.Duration(rand.IntN(2000)) * ms)
				n.Resume()
			case 1:
				n.Slow(time.Duration(rand.IntN(60)) * ms)
				time.Sleep(100 * ms)
				n.Slow(0)
			case 2:
				n.Cut()
				time.Sleep(100 * ms)
			}
		}
		wait.Wait()
		if granted < 20 {
			w.Fatalf("only %d locks granted", granted)
		}
	})
}

func TestR2LockOfACrashedHolderCanBeTaken(t *testing.T) {
	virtual(t, 5, func(w world) {
		ln := w.redlockd()
		a, b := w.client(ln), w.client(ln)
		a.want("SET k t1 NX PX 1000", "+OK", 0)
		a.conn.Close()
		time.Sleep(1000 * ms)
		b.want("SET k t2 NX PX 1000", "nil", 0) // the padding: the nodes keep it for 12 ms more
		time.Sleep(12 * ms)
		b.want("SET k t2 NX PX 1000", "+OK", 0)
	})
}

func TestR3MajorityIsEnough(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[0].Kill()
		w.nodes[1].Kill()
		c.want("SET k t NX PX 1000", "+OK", 0)
		c.want("GET k", "t", 0)
		c.want("EVAL "+release+" 1 k t", ":1", 0)
		w.nodes[2].Hang()
		c.want("SET k t NX PX 1000", "-NOQUORUM …, 3 unknown…of 5 nodes, need 3 (node:1: …; node:2: …; node:3: no answer within 50ms)", 50*ms)
		w.nodes[2].Resume()
		time.Sleep(3 * time.Second)
		c.want("SET k t NX PX 1000", "+OK", 0)
		w.nodes[0].Start() // both are taught by the other three, at the same time
		w.nodes[1].Start()
		time.Sleep(3 * time.Second)
		w.nodes[3].Kill()
		w.nodes[4].Kill()
		c.want("SET k t NX PX 1000", "+OK", 0)
	})
}

// Three of five hang: the error comes within the node timeout, and later at once.
func TestR3NoQuorumWithinTheNodeTimeout(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes[:3] {
			n.Hang()
		}
		c.want("SET k t NX PX 60000", "-NOQUORUM 2 yes, 0 no, 3 unknown of 5 nodes, need 3 (node:1: no answer within 50ms; node:2: no answer within 50ms; node:3: no answer within 50ms)", 50*ms)
		time.Sleep(160 * ms)
		c.want("SET k t NX PX 60000", "-NOQUORUM …, 3 unknown…of 5 nodes, need 3 (node:1: not answering; …", 0)
		w.wantHolders("k", "t", 0)
		for _, n := range w.nodes[:3] {
			n.Resume()
		}
		synctest.Wait()
		w.wantHolders("k", "t", 0) // their late yes was taken back
		c.want("SET k t NX PX 60000", "+OK", 0)
	})
}

func TestR4OnlyTheHolderReleases(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.redlockd(), w.redlockd()
		c := w.client(one)
		c.want("SET k t1 NX PX 1000", "+OK", 0)
		c.want("EVAL "+release+" 1 k other", ":0", 0)
		w.wantHolders("k", "t1", 5)
		w.client(two).want("EVAL "+release+" 1 k t1", ":1", 0) // another redlockd than the one that granted
		w.wantHolders("k", "t1", 0)
	})
}

// One token for all: the undo of a refused attempt must not delete the lock that another
// holds with the same token.
func TestR6SharedTokenSurvivesTheUndo(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.redlockd(), w.redlockd()
		a, b := w.client(one), w.client(two)
		w.nodes[3].Hang()
		w.nodes[4].Hang()
		a.want("SET k shared NX PX 60000", "+OK", 0)
		w.nodes[3].Resume()
		w.nodes[4].Resume()
		synctest.Wait()
		w.nodes[4].Put("k", "", ms) // free again on one node
		time.Sleep(ms)
		b.want("SET k shared NX PX 60000", "nil", 0)
		synctest.Wait()
		w.wantHolders("k", "shared", 4)
	})
}

// Answers that come when the lock they speak of has expired: the next holder has the same token.
func TestR6SharedTokenSurvivesLateAnswers(t *testing.T) {
	virtual(t, 5, func(w world) {
		a, b := w.client(w.redlockd()), w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(1400 * ms)
		}
		a.want("SET k shared NX PX 1000", "-NOQUORUM…", 50*ms)
		for _, n := range w.nodes {
			n.Slow(0)
		}
		time.Sleep(1100 * ms) // expired on all nodes
		b.want("SET k shared NX PX 1000", "+OK", 0)
		time.Sleep(500 * ms) // the answers to a have come
		w.wantHolders("k", "shared", 5)
	})
}

func TestR8EveryLockEnds(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd("--max-ttl", "1h"))
		c.want("SETNX k t", ":1", 0)
		c.want("PTTL k", ":3600000", 0)
		c.want("SET k2 t NX EX 999999999", "+OK", 0)
		c.want("TTL k2", ":3600", 0)
		c.want("SET k3 v", "+OK", 0)
		c.want("TTL k3", ":3600", 0)
		strict := w.client(w.redlockd("--max-ttl", "1h", "--over-ttl", "refuse"))
		strict.want("SET k4 t NX", "-ERR a lock must expire within max-ttl 1h0m0s (over-ttl is refuse)", 0)
		strict.want("SET k4 t NX PX 3600001", "-ERR a lock must expire…", 0)
		strict.want("SET k4 t NX PX 3600000", "+OK", 0)
		w.wantHolders("k4", "t", 3)
	})
}

// All nodes get the same command, at once.
func TestR11AllNodesAreAsked(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.want("SET k t NX EX 10", "+OK", 0)
		synctest.Wait()
		for i, n := range w.nodes {
			sets := n.Seen("SET")
			if len(sets) != 1 || strings.Join(sets[0], " ") != "SET k t NX PX 10102" {
				w.Fatalf("node %d: %v", i, sets)
			}
		}
	})
}

func TestR12OneBadNodeCostsNothing(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[2].Hang()
		for i := range 10 {
			c.want(fmt.Sprintf("SET k%d t NX PX 1000", i), "+OK", 0)
		}
		w.nodes[2].Resume()
		w.nodes[1].Slow(40 * ms)
		for i := range 10 {
			c.want(fmt.Sprintf("SET l%d t NX PX 1000", i), "+OK", 0)
		}
	})
}

func TestR13ErrorsOfNodesAreNoVotes(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[0].Refuse("LOADING Redis is loading the dataset in memory")
		c.want("SET k t NX PX 1000", "+OK", 0)
		w.nodes[1].Refuse("MISCONF no disk")
		c.want("SET k2 t NX PX 1000", "-NOQUORUM …2 unknown…of 3 nodes, need 2 (node:1: LOADING Redis is loading the dataset in memory; node:2: MISCONF no disk)", 0)
		w.wantHolders("k2", "t", 0)
	})
}

// A majority that says yes when the lock is nearly over grants nothing, and is taken back.
func TestR14TooLateIsNotGranted(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(30 * ms)
		}
		c.want("SET k t NX PX 31", "+OK", 30*ms)
		c.want("SET k2 t NX PX 30", "-NOQUORUM …of 3 nodes, need 2: too late, after 30ms, must be below 30ms", 30*ms)
		time.Sleep(31 * ms)
		w.wantHolders("k2", "t", 0)
		slow := w.client(w.redlockd("--round-limit", "20ms", "--node-timeout", "19ms", "--split-delay", "5ms"))
		time.Sleep(time.Second) // connecting is slow as well
		slow.want("SET k3 t NX PX 60000", "-NOQUORUM…", 19*ms)
	})
}

// A client that counts from before it asked, and subtracts nothing, has its whole ttl.
func TestR16WholeTTLForTheClient(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(20 * ms)
		}
		c.want("SET k t NX PX 10000", "+OK", 20*ms)
		synctest.Wait()
		for i, n := range w.nodes {
			if left := n.Left("k"); left < 10000*ms-20*ms {
				w.Fatalf("node %d keeps it for %v", i, left)
			}
		}
		for _, n := range w.nodes {
			n.Slow(0)
		}
		c.want("PTTL k", ":9980", 0) // and is never told more than is left of it
		c.want("TTL k", ":9", 0)
	})
}

// A take that failed leaves nothing behind, not even where the answer came late.
func TestR17FailedTakeLeavesNothing(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes[:3] {
			n.Put("k", "holder", time.Minute)
		}
		w.nodes[3].Hang()
		c.want("SET k t NX PX 30000", "nil", 0)
		w.wantHolders("k", "t", 0)
		time.Sleep(20 * time.Second) // long after the connection was given up
		w.nodes[3].Resume()
		time.Sleep(5 * time.Second) // longer than reconnect-max and a dial
		w.wantHolders("k", "t", 0)
		w.wantHolders("k", "holder", 3)
	})
}

// answerLast makes the first n nodes answer after the others: a majority of noes that is heard
// before any yes is a denial at once, and nobody looks further.
func (w world) answerLast(n int) {
	for _, node := range w.nodes[:n] {
		node.Slow(ms)
	}
}

// Nobody holds a majority: the vote was split. It is tried again while the client waits.
func TestR18SplitVoteIsTriedAgain(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd("--split-delay", "20ms"))
		w.nodes[0].Put("k", "x", 9*ms)
		w.nodes[1].Put("k", "x", 9*ms)
		w.nodes[2].Put("k", "y", 9*ms)
		w.answerLast(3)
		began := time.Now()
		if got := c.do("SET k t NX PX 1000"); got != "+OK" {
			w.Fatal(got)
		}
		if spent := time.Since(began); spent < 10*ms || spent > 26*ms {
			w.Fatalf("half to all of 20ms and three slow rounds, not %v", spent)
		}
		w.wantHolders("k", "t", 5)
	})
}

// Somebody does hold it: denied at once, though two nodes had accepted.
func TestR18NoSplitIfSomebodyHoldsIt(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes[2:] {
			n.Put("k", "x", time.Minute)
		}
		c.want("SET k t NX PX 1000", "nil", 0)
		w.wantHolders("k", "t", 0)
	})
}

func TestR18RetriesAreLimited(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd("--split-delay", "20ms", "--split-retries", "2"))
		w.nodes[0].Put("k", "x", time.Minute)
		w.nodes[1].Put("k", "x", time.Minute)
		w.nodes[2].Put("k", "y", time.Minute)
		w.answerLast(3)
		began := time.Now()
		if got := c.do("SET k t NX PX 1000"); got != "nil" {
			w.Fatal(got)
		}
		if spent := time.Since(began); spent < 20*ms || spent > 55*ms {
			w.Fatalf("two delays of 10 to 20 ms and six slow rounds, not %v", spent)
		}
		w.wantHolders("k", "t", 0)
	})
}

// Release reaches the nodes that did not answer, when they can be reached.
func TestR19ReleaseReachesEveryNode(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.want("SET k t NX PX 600000", "+OK", 0)
		synctest.Wait()
		w.nodes[0].Hang()
		w.nodes[1].Cut()
		c.want("EVAL "+release+" 1 k t", ":1", 0)
		time.Sleep(10 * time.Second)
		w.nodes[0].Resume()
		time.Sleep(5 * time.Second)
		w.wantHolders("k", "t", 0)
	})
}

// Too few answer a release: an error, and it is done in the background.
func TestR19UndecidedReleaseIsRepeated(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		c.want("SET k t NX PX 600000", "+OK", 0)
		w.nodes[0].Hang()
		w.nodes[1].Hang()
		c.want("SET other t NX PX 10", "-NOQUORUM…", 50*ms)
		time.Sleep(160 * ms) // now they are known to be silent
		c.want("EVAL "+release+" 1 k t", "-NOQUORUM …2 unknown…of 3 nodes, need 2 (node:1: not answering; node:2: not answering)", 0)
		w.nodes[0].Resume()
		w.nodes[1].Resume()
		time.Sleep(5 * time.Second)
		w.wantHolders("k", "t", 0)
	})
}

func TestR20ExtendNeedsAMajorityInTime(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd("--max-ttl", "1m"))
		c.want("SET k t NX PX 1000", "+OK", 0)
		c.want("EVAL "+extend+" 1 k t 5000", ":1", 0)
		c.want("PTTL k", ":5000", 0)
		c.want("EVAL "+extend+" 1 k other 5000", ":0", 0)
		c.want("EVAL "+extend+" 1 k t 99999999", ":1", 0) // R8: never beyond max-ttl, however often
		c.want("PTTL k", ":60000", 0)
		for _, n := range w.nodes {
			n.Slow(30 * ms)
		}
		c.want("EVAL "+extend+" 1 k t 30", "-NOQUORUM…", 30*ms)
	})
}
