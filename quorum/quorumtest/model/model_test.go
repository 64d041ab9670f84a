package model

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// anything is a scenario in which everything may happen, drawn at random.
func anything(r *rand.Rand) Scenario {
	nodes := 3 + r.IntN(3)
	all := uint8(1)<<nodes - 1
	some := func() uint8 { return uint8(r.IntN(int(all) + 1)) }
	few := func(n int) uint8 { return uint8(r.IntN(n + 1)) }
	s := Scenario{Nodes: nodes, Proxies: 1 + r.IntN(3), Attempts: 2 + r.IntN(4), Teachers: 1 + r.IntN(2),
		TTL: int8(2 + r.IntN(7)), Limit: int8(1 + r.IntN(4)), Horizon: int8(12 + r.IntN(18)), Extends: few(2), Jump: int8(1 + r.IntN(6)),
		Split: Split(r.IntN(3)), Coexist: r.IntN(2) == 0, LongWait: r.IntN(3) == 0, Admit: r.IntN(3) == 0,
		TopUps: r.IntN(2) == 0, Releases: r.IntN(3) == 0, Undos: r.IntN(2) == 0, Quiet: r.IntN(2) == 0}
	s.Faults = Faults{Empty: few(1), Old: few(1), Flush: few(2), Forward: few(1), Back: few(1), Cut: few(2), Crash: few(1), Lost: few(1)}
	if r.IntN(4) == 0 {
		s.Durable = some()
		s.Faults.Full = few(2)
	}
	if r.IntN(2) == 0 {
		s.Held = some()
		for count(s.Held) <= nodes/2 {
			s.Held = some()
		}
		if r.IntN(2) == 0 {
			s.Forgot = 1 << r.IntN(nodes)
		}
	}
	if s.Held == 0 && r.IntN(4) == 0 {
		s.New, s.Admit = true, true
	}
	return s
}

func TestSoak(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SOAK"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	r := rand.New(rand.NewPCG(uint64(seed), 9))
	var sum Result
	for i := range n {
		s := anything(r)
		f := Walk
		if i%2 == 0 {
			f = Explore
		}
		o := f(&s, uint64(i), 100_000)
		sum.add(o)
		if o.Trace != nil {
			t.Fatalf("%d %+v\n%s", i, s, Tell(&s, Shorten(&s, o.Trace)))
		}
	}
	t.Logf("walks %d steps %d grants %d vouched %d", sum.Walks, sum.Steps, sum.Grants, sum.Vouched)
}
