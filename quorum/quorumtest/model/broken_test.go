package model

import (
	"testing"
	"time"
)

func near(c Rule) Scenario {
	s := Scenario{Nodes: 3, Proxies: 2, Attempts: 3, Teachers: 2, TTL: 6, Limit: 2, Horizon: 14,
		Split: TailApart, Undos: true, Held: 0b101, Faults: Faults{Flush: 1}}
	switch c {
	case P2KnownBefore, P2TailAlone:
		s.Held, s.Limit, s.TTL = 0, 3, 8
	case P2Step, P4Unvouch, P9Clock:
		s.Faults = Faults{Forward: 1}
		s.Jump = 4
	case P3Limit, P6Wait, P6BeforeScan, P6WholeLimit:
		s.Held = 0
	case P3Extend:
		s.Extends = 1
	case P5OneConnection:
		s.Forgot = 0b100
		s.Faults = Faults{Old: 1}
	case P7Sources:
	case P7VouchedBefore:
		s.Nodes, s.Held, s.Faults.Flush = 5, 0b10101, 2
	case P7VouchedAfter:
	case P8LongerTTL:
		s.Extends = 1
		s.Releases = true
	case P11AllNodes, P11AtOnce, P11Wait:
		s.Held = 0
		s.New = true
		s.Admit = true
		s.Faults = Faults{Empty: 1, Crash: 1}
	}
	s.Without = c
	return s
}

func TestBroken(t *testing.T) {
	for _, c := range Clauses {
		s := near(c.Rule)
		began := time.Now()
		total := 0
		var r Result
		for seed := range uint64(3) {
			r = Explore(&s, seed, 2_000_000)
			total += r.Steps
			if r.Trace == nil {
				break
			}
		}
		t.Logf("%-4s %-16s found=%v steps(3 seeds)=%d places=%d grants=%d vouched=%d %v", c.Number, c.Name, r.Trace != nil, total, r.States, r.Grants, r.Vouched, time.Since(began).Round(time.Millisecond))
		s.Without = All
		r = Explore(&s, 1, 1_000_000)
		if r.Trace != nil {
			t.Errorf("ALL IN:\n%s", Tell(&s, Shorten(&s, r.Trace)))
		}
	}
}
