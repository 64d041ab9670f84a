package main

// What a round may cost: gates that do not depend on how fast the machine is. Allocations stand in quorum (TestRoundsAreNotAllocated) and
// proxy (TestCostOfACommand), clients in proxy (TestCostOfAnIdleClient).

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// flushes counts those that the nodes have got: each has the node's clock behind it.
func (w world) flushes() []int {
	synctest.Wait()
	counts := make([]int, len(w.nodes))
	for i, n := range w.nodes {
		counts[i] = len(n.Seen("TIME"))
	}
	return counts
}

func (w world) wantFlushes(before []int, most int) {
	w.Helper()
	for i, now := range w.flushes() {
		if n := now - before[i]; n < 1 || n > most {
			w.Errorf("node %d got %d flushes, want 1 to %d", i, n, most)
		}
	}
}

// A pipeline goes to every node in one flush, whatever stands in it.
func TestOneFlushForAPipeline(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		before := w.flushes()
		var takes, granted []string
		for i := range 64 { // what redcon reads in one piece
			takes = append(takes, fmt.Sprintf("SET k%d t NX PX 1000", i))
			granted = append(granted, "+OK")
		}
		c.batch(takes...)
		c.wants(granted...)
		w.wantFlushes(before, 1)
	})
}

// Clients that ask at the same time share flushes. How many depends on who runs when; without sharing it is one a client.
func TestFewFlushesForManyClients(t *testing.T) {
	virtual(t, 5, func(w world) {
		const clients, rounds = 100, 10
		ln := w.redlockd()
		before := w.flushes()
		var all sync.WaitGroup
		for i := range clients {
			c := w.client(ln)
			all.Go(func() {
				for r := range rounds {
					c.send(fmt.Sprintf("SET k%d:%d t NX PX 1000", i, r))
					if got := c.receive(); got != "+OK" {
						t.Errorf("client %d: %s", i, got)
					}
				}
			})
		}
		all.Wait()
		w.wantFlushes(before, clients*rounds/2)
		t.Logf("%d rounds in %v flushes", clients*rounds, w.flushes())
	})
}

// A crowd of pipelines that is more than there is room for goes out in large pieces, not round by round.
func TestFewFlushesForACrowd(t *testing.T) {
	virtual(t, 3, func(w world) {
		const clients, pipeline, piece = 30, 64, 16 // a quarter of the room
		ln := w.redlockd("--rounds-in-flight", "64")
		before := w.flushes()
		var all sync.WaitGroup
		for i := range clients {
			c := w.client(ln)
			all.Go(func() {
				var takes, granted []string
				for k := range pipeline {
					takes = append(takes, fmt.Sprintf("SET k%d:%d t NX PX 1000", i, k))
					granted = append(granted, "+OK")
				}
				c.batch(takes...)
				c.wants(granted...)
			})
		}
		all.Wait()
		w.wantFlushes(before, clients*pipeline/piece)
	})
}
