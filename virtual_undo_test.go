package main

// What an undo must leave alone, where all clients use one token.

import (
	"testing"
	"time"
)

// A take is accepted by two nodes and waits for the others. Before it is undone, the key is released there by somebody with the same token, and
// taken again, for less time.
func TestR17UndoSparesAShorterLockOfTheSameToken(t *testing.T) {
	for _, again := range []string{"SET k s NX PX 1000", "SET k s NX PX 59000", "SET k s NX PX 60000", "SET k s NX PX 61000"} {
		virtual(t, 5, func(w world) {
			a := w.client(w.redlockd())
			for _, n := range w.nodes[2:] {
				n.HoldConnections()
			}
			b := w.client(w.redlockd())
			a.send("SET k s NX PX 60000")
			time.Sleep(20 * ms)
			w.wantHolders("k", "s", 2)
			b.do("EVAL " + release + " 1 k s")
			time.Sleep(10 * ms)
			b.want(again, "+OK", 0)
			if got := a.receive(); !like(got, "-NOQUORUM …") {
				t.Fatal(got)
			}
			time.Sleep(100 * ms)
			w.wantHolders("k", "s", 5)
		})
	}
}
