package main

// What takes its time in the middle of a pipeline.

import (
	"testing"
	"time"
)

// A script that is new is found out about behind the answers to what stands before it, however long that takes: a grant must not come to its
// client too late for it (R14), nor an acceptance be counted from before it (R10). Once it is known, all are asked together.
func TestR14NothingWaitsForANewScript(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(10 * ms) // one after the other
		}
		c.batch("SET k t NX PX 60000", "EVAL "+release+" 1 m t", "SET l t NX PX 60000")
		began := time.Now()
		c.wants("+OK")
		if spent := time.Since(began); spent != 10*ms {
			w.Fatalf("what stands before it is answered after %v", spent)
		}
		c.wants(":0", "+OK")
		if spent := time.Since(began); spent != 30*ms {
			w.Fatalf("it is answered after %v", spent)
		}
		c.batch("SET n t NX PX 60000", "EVAL "+release+" 1 m t", "SET o t NX PX 60000")
		began = time.Now()
		c.wants("+OK", ":0", "+OK")
		if spent := time.Since(began); spent != 30*ms {
			w.Fatalf("together they are answered after %v", spent)
		}
	})
}
