package main

import (
	"testing"
	"time"
)

// Accepted, of tokens that are not unique (README): the release of a holder also removes what another request of the same token
// has got meanwhile through another redlockd, and that one still counts it. Nothing on a node tells the two apart. Found by the simulator,
// see quorumtest/sim/testdata/shared.txt.
func TestR6ReleaseReachesAnotherRequestOfTheSameToken(t *testing.T) {
	virtual(t, 3, func(w world) {
		one, two := w.redlockd("--split-retries", "0"), w.redlockd()
		a, b := w.client(one), w.client(two)
		late := map[int]time.Duration{0: time.Second, 2: 20 * ms} // on their way to these nodes
		for i, d := range late {
			w.nodes[i].Before(func(args []string) {
				if args[0] == "SET" && args[1] == "k" && args[len(args)-1] == "5052" { // 5 s, padded
					time.Sleep(d)
				}
			})
		}
		a.send("SET k process NX PX 5000") // has got the node in the middle
		time.Sleep(ms)
		b.want("SET k process NX PX 1000", "+OK", 0) // and this the two others
		b.want("EVAL "+release+" 1 k process", ":1", 0)
		w.wantHolders("k", "process", 0)
		if got := a.receive(); got != "+OK" { // from two nodes, one of which has lost it
			w.Fatal(got)
		}
		b.want("SET k process NX PX 1000", "+OK", 0) // from two nodes: a holds it as well
	})
}
