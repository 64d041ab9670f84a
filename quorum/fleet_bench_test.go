package quorum

import (
	"testing"
	"time"
)

// instant is a node that says yes at once.
type instant struct{ scripted }

func (n *instant) Send(_ *Request, now time.Duration, voter Voter, i int) {
	voter.Hear(i, Answer{Vote: Yes, At: now})
}

func instantFleet(n int) *Fleet {
	var nodes []Node
	for range n {
		nodes = append(nodes, &instant{})
	}
	return NewFleet(nodes, someRules, func() time.Duration { return 0 }, func() float64 { return 0 }, nil)
}

// round carries a take from its start to its confirmation.
func round(f *Fleet) {
	f.Reserve(1)
	t := f.NewTicket()
	t.Request = Request{Op: Take, TTL: time.Second, Life: Pad(time.Second)}
	t.Start(0)
	t.Wait(true)
	t.Confirm(0)
	t.Free()
}

func BenchmarkRound(b *testing.B) {
	f := instantFleet(5)
	b.ReportAllocs()
	for b.Loop() {
		round(f)
	}
}

// A round of an ordinary fleet needs no memory of its own.
func TestRoundsAreNotAllocated(t *testing.T) {
	f := instantFleet(ordinaryFleet)
	if n := testing.AllocsPerRun(1000, func() { round(f) }); n != 0 {
		t.Fatalf("%v allocations a round", n)
	}
}
