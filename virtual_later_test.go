package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// merging says that args are the merge of a lesson that holds key.
func merging(args []string, key string) bool {
	for _, a := range args {
		if a == key && args[0] == "EVAL" && strings.Contains(args[1], "#KEYS") {
			return true
		}
	}
	return false
}

// A lock that is released between the scan and the merge of a lesson is copied although nobody holds it any more. The
// node gets the release again when it is over.
func TestP8ReleasedWhileCopied(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		c.want("SET k t NX PX 3600000", "+OK", 0)
		w.nodes[2].Kill()
		w.nodes[2].Start()
		var copied atomic.Int32
		w.nodes[2].Before(func(args []string) {
			if merging(args, "k") {
				if copied.Add(1) == 1 {
					c.do("EVAL " + release + " 1 k t")
					time.Sleep(ms) // until all that follows at once has followed
				}
			}
		})
		time.Sleep(3 * time.Second)
		if copied.Load() == 0 {
			t.Fatal("the lock was not copied")
		}
		w.wantHolders("k", "t", 0)
		w.nodes[0].Kill() // the one that was taught is needed now
		c.want("SET k t2 NX PX 1000", "+OK", 0)
	})
}

// The same for a take that was denied after one node had accepted it, and that was copied before it was undone.
func TestP8UndoneWhileCopied(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd("--split-retries", "0"))
		w.nodes[2].Kill()
		w.nodes[2].Start()
		time.Sleep(400 * ms) // the lesson waits for R
		var taken atomic.Int32
		var merged atomic.Bool
		w.nodes[2].Before(func(args []string) {
			if merging(args, "t") {
				merged.Store(true)
				time.Sleep(5 * ms)
			}
		})
		w.nodes[1].Before(func(args []string) {
			if args[0] == "EVAL" && strings.Contains(args[1], "SCAN") {
				if taken.Add(1) == 1 {
					time.Sleep(50 * ms)                // the other node has been scanned
					w.nodes[0].Put("k", "other", 5*ms) // by hand: so that nobody gets a majority of three
					w.nodes[1].Slow(2 * ms)            // so that it is scanned before it is undone
					go c.do("SET k t NX PX 3600000")
					time.Sleep(ms)
				}
			}
		})
		time.Sleep(3 * time.Second)
		if !merged.Load() {
			t.Fatal("it was not copied")
		}
		w.wantHolders("k", "t", 0)
	})
}
