package main

import (
	"testing"
	"time"
)

// The power fails for all nodes at once. Each comes back with what it had on its disk, and one of them has lost the latest
// lock: the others still know it, so that nobody else gets it.
func TestP11WholeFleetRestartsFromDisk(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		w.nodes[2].Save() // before the lock was taken
		c.want("SET k t1 NX PX 20000", "+OK", 0)
		w.wantHolders("k", "t1", 3)
		w.nodes[0].Put("k", "", ms) // only a majority had it
		time.Sleep(2 * ms)
		w.nodes[0].Save()
		w.nodes[1].Save()
		for _, n := range w.nodes {
			n.Kill()
		}
		for _, n := range w.nodes {
			n.StartFrom()
		}
		w.until("vouched for", 3*time.Second, func() bool {
			return vouched(w.nodes[0]) && vouched(w.nodes[1]) && vouched(w.nodes[2])
		})
		time.Sleep(time.Second)
		c.want("SET k t2 NX PX 20000", "nil", 0)
		w.wantHolders("k", "t1", 3)
		w.nodes[1].Kill()
		c.want("SET k t2 NX PX 20000", "nil", 0)
	})
}
