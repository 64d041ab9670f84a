package model

import (
	"testing"
	"time"
)

func near(c Rule) Scenario {
	const A, B, C, D, E = 1, 2, 4, 8, 16
	s := Scenario{Nodes: 3, Proxies: 1, Attempts: 2, Teachers: 1, TTL: 8, Limit: 2, Horizon: 9,
		Split: TailApart, Quiet: true, Held: A | C, FaultNodes: C, Jump: 8}
	switch c {
	case P2KnownBefore:
		s.Forgot = C
	case P2StillThere, P2Tail, P2TailAlone, P7Sources:
		s.Faults = Faults{Flush: 1}
	case P2Step, P4Unvouch:
		s.Faults = Faults{Forward: 1}
	case P9Clock:
		s.Forgot = C
		s.Faults = Faults{Forward: 1}
	case P3Majority:
	case P3Limit, P6Wait, P6BeforeScan:
		s.Held, s.Forgot, s.Voted, s.Asked = 0, C, C, A
	case P6WholeLimit:
		s.Held, s.Forgot, s.Voted, s.Asked, s.Limit = 0, C, C, A, 3
	case P3Extend:
		s.Extends, s.Forgot, s.Voted, s.Asked, s.Early = 1, C, C, A, A
	case P5OneConnection:
		s.Forgot = C
		s.Faults = Faults{Old: 1}
	case P7VouchedBefore:
		s.Nodes, s.Held, s.Forgot, s.Begun, s.Teachers, s.Limit = 5, A|C|E, A|C, A|C, 2, 1
	case P7VouchedAfter:
		s.Forgot, s.FaultNodes, s.Faults = C, A, Faults{Flush: 1}
	case P8NotLeft:
		s.Attempts, s.Forgot, s.Stale, s.Undos = 3, C, C, true
	case P8NotOverwritten, P8NotLongest:
		s.Attempts, s.Held, s.Forgot, s.Stale, s.Undos = 3, B|C, C, A, true
	case P8NotFlushed:
		s.Forgot, s.Teachers = C, 2
	case P8LongerTTL:
		s.Held, s.Forgot, s.Early = A|B|C, C, B
	case P9Mark:
		s.Forgot, s.Faults = C, Faults{Flush: 1}
	case P11AllNodes:
		s.Held, s.Forgot, s.Admit = A|B, B|C, true
	case P11AtOnce:
		s.Midway, s.Admit, s.Faults = true, true, Faults{Empty: 1}
	case P11Wait:
		s.Held, s.Forgot, s.Admit, s.Faults, s.FaultNodes = 0, B|C, true, Faults{Empty: 1}, A
	}
	switch c {
	case MarkOffset:
		s.Faults = Faults{Forward: 1, Crash: 1}
	case BaselineOutlives:
		s.Tolerant = true
		s.Faults = Faults{Forward: 1, Cut: 1}
	case DoubtOutlives:
		s.Tolerant = true
		s.Faults = Faults{Forward: 1, Cut: 1}
	case StepsWhileDoubting:
		s.Tolerant, s.Jump, s.TTL, s.Horizon = true, 6, 12, 13
		s.Faults = Faults{Forward: 2}
	case TimeFirst:
		s.Tolerant, s.Split = true, EachApart
		s.Quiet, s.Limit, s.Faults = false, 1, Faults{Forward: 1, Flush: 1}
	case NarrowBaseline:
		s.Interval, s.Jump, s.Limit = true, 2, 2
		s.Faults = Faults{Forward: 1, Crash: 1}
	case P13Mark:
		s.Durable, s.Forgot = C, C
		s.Faults = Faults{Full: 1}
	case P13Clock:
		s.Durable = C
		s.Faults = Faults{Full: 1, Forward: 1}
	case P11Scars:
		s.Strict, s.Admit, s.Held, s.Forgot, s.Jump = true, true, B|C, C, 1
		s.FaultNodes = A | B
		s.Faults = Faults{Forward: 2}
	}
	s.Without = c
	return s
}

func TestBroken(t *testing.T) {
	for _, c := range append(Clauses, Refinements...) {
		if c.Rule < MarkOffset && testing.Short() {
			continue
		}
		s := near(c.Rule)
		var found []Action
		for i, f := range []func(*Scenario, uint64, int) Result{Walk, Explore} {
			began := time.Now()
			total := 0
			var r Result
			for seed := range uint64(3) {
				r = f(&s, seed, 1_000_000)
				total += r.Steps
				if r.Trace != nil {
					found = r.Trace
				}
				if r.Trace == nil {
					break
				}
			}
			t.Logf("%d %-4s %-16s found=%v steps(3 seeds)=%d walks=%d grants=%d vouched=%d %v", i, c.Number, c.Name, r.Trace != nil, total, r.Walks, r.Grants, r.Vouched, time.Since(began).Round(time.Millisecond))
		}
		s.Without = All
		r := Walk(&s, 1, 300_000)
		if c.Rule >= MarkOffset && found != nil {
			s.Without = c.Rule
			t.Log(Tell(&s, Shorten(&s, found)))
			s.Without = All
		}
		if r.Trace != nil {
			t.Errorf("ALL IN:\n%s", Tell(&s, Shorten(&s, r.Trace)))
		}
	}
}
