package main

// Locks over many keys, and locks that their token takes again.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockd/quorum/quorumtest"
)

// reenter takes a key that is free or the token's already. takeAll takes all keys or none. releaseAll deletes those that are the token's.
const (
	reenter    = "local\tv=redis.call('get',KEYS[1])\tif\tnot\tv\tor\tv==ARGV[1]then\treturn\tredis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2])else\treturn\tfalse\tend"
	takeAll    = "for\ti,k\tin\tipairs(KEYS)do\tif\tredis.call('exists',k)==1\tthen\treturn\t0\tend\tend\tfor\ti,k\tin\tipairs(KEYS)do\tredis.call('set',k,ARGV[1],'PX',ARGV[2])end\treturn\t#KEYS"
	releaseAll = "local\tn=0\tfor\ti,k\tin\tipairs(KEYS)do\tif\tredis.call('get',k)==ARGV[1]then\tn=n+redis.call('del',k)end\tend\treturn\tn"
)

func TestManyKeysAllOrNone(t *testing.T) {
	virtual(t, 5, func(w world) {
		one, two := w.client(w.redlockd()), w.client(w.redlockd())
		one.want("EVAL "+takeAll+" 2 a b t1 1000", ":2", 0)
		two.want("EVAL "+takeAll+" 2 b c t2 1000", ":0", 0)
		w.wantHolders("c", "t2", 0)
		two.want("MSETEX 2 c t2 d t3 NX PX 1000", ":1", 0)
		one.want("MSETEX 2 d t4 e t4 NX PX 1000", ":0", 0)
		w.wantHolders("e", "t4", 0)
		two.want("EVAL "+releaseAll+" 2 a c t2", ":1", 0)
		one.want("EVAL "+releaseAll+" 2 a b t1", ":2", 0)
		one.want("GET a", "nil", 0)
		one.want("GET d", "t3", 0)
	})
}

// A take of many keys that too few nodes granted is taken back, of each key, also where the answer comes late.
func TestR17ManyKeysAreTakenBack(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes[:3] {
			n.Hang()
		}
		c.want("MSETEX 2 a t b t NX PX 60000", "-NOQUORUM …", 50*ms)
		for _, n := range w.nodes[:3] {
			n.Resume()
		}
		time.Sleep(10 * ms)
		w.wantHolders("a", "t", 0)
		w.wantHolders("b", "t", 0)
	})
}

// The first try ends undecided, since three nodes answer late. The second finds its own token there, and is granted. The late
// yes of the first is taken back without touching what the second has.
func TestR17LateUndoSparesTheSecondTry(t *testing.T) {
	virtual(t, 5, func(w world) {
		a, b := w.client(w.redlockd()), w.client(w.redlockd())
		for _, n := range w.nodes[:3] {
			n.Slow(60 * ms)
		}
		a.want("EVAL "+reenter+" 1 k t1 60000", "-NOQUORUM …", 50*ms)
		for _, n := range w.nodes[:3] {
			n.Slow(0)
		}
		a.send("EVAL " + reenter + " 1 k t1 60000")
		if got := a.receive(); got != "+OK" {
			t.Fatal(got)
		}
		time.Sleep(time.Second)
		b.want("EVAL "+reenter+" 1 k t2 60000", "nil", 0)
		w.nodes[3].Kill()
		w.nodes[4].Kill()
		b.want("EVAL "+reenter+" 1 k t2 60000", "nil", 0)
		a.want("EVAL "+reenter+" 1 k t1 60000", "+OK", 0)
	})
}

// TestR1ManyUnderFire: clients of two redlockd, each with one token for all that it does, fight for three keys, one or two at a time, by
// SET NX, by taking again what is theirs, and all-or-none, while nodes hang, are slow, lose connections and forget everything. Nobody ever
// believes to hold a key while somebody else does.
func TestR1ManyUnderFire(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			virtual(t, 5, func(w world) { manyUnderFire(w, rand.New(rand.NewPCG(seed, 4))) })
		})
	}
}

// belief is who believes to hold a key, and until when.
type belief struct {
	who   string
	until time.Time
}

func manyUnderFire(w world, chance *rand.Rand) {
	const ttl = 300 * ms
	lns := []*quorumtest.Listener{w.redlockd(), w.redlockd()}
	var mu sync.Mutex
	beliefs, granted := map[string]belief{}, map[string]int{}
	hold := func(who string, keys []string, began time.Time) {
		mu.Lock()
		defer mu.Unlock()
		for _, k := range keys {
			if b := beliefs[k]; b.who != "" && b.who != who && time.Now().Before(b.until) {
				w.Errorf("%s was granted %s while %s holds it", who, k, b.who)
			}
			beliefs[k] = belief{who, began.Add(ttl)}
		}
	}
	drop := func(who string, keys []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, k := range keys {
			if beliefs[k].who == who {
				delete(beliefs, k)
			}
		}
	}
	end := time.Now().Add(20 * time.Second)
	var wait sync.WaitGroup
	for i := range 6 {
		c, who, chance := w.client(lns[i%2]), fmt.Sprintf("t%d", i), rand.New(rand.NewPCG(chance.Uint64(), 0))
		wait.Go(func() {
			for time.Now().Before(end) {
				keys := []string{"a", "b", "c"}
				chance.Shuffle(3, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				keys = keys[:1+chance.IntN(2)]
				all := fmt.Sprintf("%d %s %s", len(keys), strings.Join(keys, " "), who)
				kind, command, yes := "take all", "EVAL "+takeAll+" "+all+" 300", fmt.Sprintf(":%d", len(keys))
				if len(keys) == 1 && chance.IntN(3) > 0 {
					kind, command, yes = "reenter", "EVAL "+reenter+" "+all+" 300", "+OK"
				} else if len(keys) == 1 {
					kind, command, yes = "set", "SET "+keys[0]+" "+who+" NX PX 300", "+OK"
				}
				for range 1 + chance.IntN(3) { // at once again: the undo of the first may still be on its way
					began := time.Now()
					if c.do(command) == yes {
						hold(who, keys, began)
						mu.Lock()
						granted[kind]++
						mu.Unlock()
					}
				}
				time.Sleep(time.Duration(chance.IntN(200)) * ms)
				if chance.IntN(4) > 0 {
					drop(who, keys)
					c.do("EVAL " + releaseAll + " " + all)
				}
				time.Sleep(time.Duration(chance.IntN(20)) * ms)
			}
		})
	}
	for time.Now().Before(end) {
		n := w.nodes[chance.IntN(5)]
		switch chance.IntN(4) {
		case 0:
			n.Hang()
			time.Sleep(time.Duration(chance.IntN(1000)) * ms)
			n.Resume()
		case 1:
			n.Slow(time.Duration(30+chance.IntN(60)) * ms)
			time.Sleep(100 * ms)
			n.Slow(0)
		case 2:
			n.Cut()
			time.Sleep(100 * ms)
		case 3:
			n.Kill()
			n.Start()
			time.Sleep(time.Second)
		}
	}
	wait.Wait()
	for _, kind := range []string{"take all", "reenter", "set"} {
		if granted[kind] < 10 {
			w.Fatalf("only %d locks granted by %s", granted[kind], kind)
		}
	}
}

// A script that releases and publishes wakes those who have subscribed here; but only if it has released.
func TestScriptPublishes(t *testing.T) {
	const unlock = "if\tredis.call('get',KEYS[1])==ARGV[1]then\tredis.call('unlink',KEYS[1])redis.call('publish',ARGV[2],KEYS[1])return\t1\tend\treturn\t0"
	virtual(t, 3, func(w world) {
		ln := w.redlockd()
		c, waits := w.client(ln), w.client(ln)
		waits.talk("SUBSCRIBE free", "*3", "subscribe", "free", ":1")
		c.want("SET k t NX PX 60000", "+OK", 0)
		c.want("EVAL "+unlock+" 1 k other free", ":0", 0)
		w.nodes[0].Hang()
		w.nodes[1].Hang()
		c.want("EVAL "+unlock+" 1 k t free", "-NOQUORUM …", 50*ms)
		w.nodes[0].Resume()
		w.nodes[1].Resume()
		c.want("SET k2 t NX PX 60000", "+OK", 0)
		c.want("EVAL "+unlock+" 1 k2 t free", ":1", 0)
		for _, want := range []string{"*3", "message", "free", "k2"} { // and nothing before
			if got := waits.receive(); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	})
}
