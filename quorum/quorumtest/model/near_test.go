package model

import "math/rand/v2"

// The nodes, as bits.
const (
	nodeA = 1 << iota
	nodeB
	nodeC
	nodeD
	nodeE
)

// near is a scenario that begins a few steps before clause r matters, and has the faults that it guards
// against. Most begin with a lock that A and C granted, and C about to forget it, or having done so.
func near(r Rule) Scenario {
	s := Scenario{Nodes: 3, Proxies: 1, Attempts: 2, Teachers: 1, TTL: 8, Limit: 2, Horizon: 9,
		Split: TailApart, Quiet: true, Held: nodeA | nodeC, FaultNodes: nodeC, Jump: 8}
	switch r {
	case P2KnownBefore:
		s.Forgot = nodeC
	case P2StillThere, P2Tail, P2TailAlone, P7Sources:
		s.Faults = Faults{Flush: 1}
	case P2Step, P4Unvouch:
		s.Faults = Faults{Forward: 1}
	case P3Limit, P6Wait, P6BeforeScan: // the first yes of a take is counted, the second is on its way
		s.Held, s.Forgot, s.Voted, s.Asked = 0, nodeC, nodeC, nodeA
	case P6WholeLimit:
		s.Held, s.Forgot, s.Voted, s.Asked, s.Limit = 0, nodeC, nodeC, nodeA, 3
	case P3Extend:
		s.Extends, s.Forgot, s.Voted, s.Asked, s.Early = 1, nodeC, nodeC, nodeA, nodeA
	case P5OneConnection:
		s.Forgot, s.Faults = nodeC, Faults{Old: 1}
	case P7VouchedBefore: // A forgot as well; whoever scans it too early learns nothing from it
		s.Nodes, s.Held, s.Forgot = 5, nodeA|nodeC|nodeE, nodeA|nodeC
		s.Begun, s.Teachers, s.Limit = nodeA|nodeC, 2, 1
	case P7VouchedAfter:
		s.Forgot, s.FaultNodes, s.Faults = nodeC, nodeA, Faults{Flush: 1}
	case P8NotLeft:
		s.Attempts, s.Forgot, s.Stale, s.Undos = 3, nodeC, nodeC, true
	case P8NotOverwritten, P8NotLongest:
		s.Attempts, s.Held, s.Forgot, s.Stale, s.Undos = 3, nodeB|nodeC, nodeC, nodeA, true
	case P8NotFlushed:
		s.Forgot, s.Teachers = nodeC, 2
	case P8LongerTTL:
		s.Held, s.Forgot, s.Early = nodeA|nodeB|nodeC, nodeC, nodeB
	case P9Mark:
		s.Forgot, s.Faults = nodeC, Faults{Flush: 1}
	case P9Clock:
		s.Forgot, s.Faults = nodeC, Faults{Forward: 1}
	case P11AllNodes:
		s.Held, s.Forgot, s.Admit = nodeA|nodeB, nodeB|nodeC, true
	case P11AtOnce:
		s.Midway, s.Admit, s.Faults = true, true, Faults{Empty: 1}
	case P11Wait: // the proxy that admitted the fleet crashed after A
		s.Held, s.Forgot, s.Admit, s.Faults, s.FaultNodes = 0, nodeB|nodeC, true, Faults{Empty: 1}, nodeA
	default:
		nearRefinement(&s, r)
	}
	return s
}

func nearRefinement(s *Scenario, r Rule) {
	switch r {
	case MarkOffset:
		s.Faults = Faults{Forward: 1, Crash: 1}
	case BaselineOutlives, DoubtOutlives:
		s.Tolerant, s.Faults = true, Faults{Forward: 1, Cut: 1}
	case StepsWhileDoubting:
		s.Tolerant, s.Jump, s.TTL, s.Horizon, s.Faults = true, 6, 12, 13, Faults{Forward: 2}
	case TimeFirst:
		s.Tolerant, s.Split, s.Limit = true, EachApart, 1
		s.Forgot, s.Looked, s.Faults = nodeC, nodeC, Faults{Forward: 1}
	case NarrowBaseline:
		s.Interval, s.Jump, s.Faults = true, 2, Faults{Forward: 1, Crash: 1}
	case P13Mark:
		s.Durable, s.Forgot, s.Faults = nodeC, nodeC, Faults{Full: 1}
	case P13Clock:
		s.Durable, s.Faults = nodeC, Faults{Full: 1, Forward: 1}
	case P11Scars:
		s.Strict, s.Admit, s.Held, s.Forgot = true, true, nodeB|nodeC, nodeC
		s.Jump, s.FaultNodes, s.Faults = 1, nodeA|nodeB, Faults{Forward: 2}
	}
}

// seed is one with which the double grant without r is found soon. The others find it too, later.
func seed(r Rule) uint64 {
	good := map[Rule]uint64{P2KnownBefore: 2, P3Limit: 5, P6Wait: 4, P6BeforeScan: 15, P6WholeLimit: 40, P7VouchedBefore: 38,
		P7VouchedAfter: 12, P8NotOverwritten: 16, P8NotLongest: 3, P8LongerTTL: 3, P9Clock: 3, P11AtOnce: 2, P11Wait: 2,
		BaselineOutlives: 2, DoubtOutlives: 14, StepsWhileDoubting: 6, TimeFirst: 27, NarrowBaseline: 20, P11Scars: 4}
	if s, ok := good[r]; ok {
		return s
	}
	return 1
}

// around is a scenario near some clause, with a few things changed at random: more of everything.
func around(r *rand.Rand) Scenario {
	s := near(Rule(1 + r.IntN(int(rules)-1)))
	for range 1 + r.IntN(5) {
		switch r.IntN(21) {
		case 0, 1:
			s.Proxies = min(s.Proxies+1, maxProxies)
		case 2, 3:
			s.Attempts = min(s.Attempts+1, maxAttempts)
		case 4:
			s.Teachers = maxTeachers
		case 5:
			s.Extends++
		case 6:
			s.TopUps = true
		case 7:
			s.Undos = true
		case 8:
			s.Releases = true
		case 9:
			s.LongWait = true
		case 10:
			s.Admit = true
		case 11:
			s.Coexist = true
		case 12:
			s.Split = EachApart
		case 13:
			s.TTL, s.Horizon = s.TTL+2, s.Horizon+4
		case 14:
			s.TTL = max(2, s.TTL-2)
		case 15:
			s.Limit = 1 + int8(r.IntN(3))
		case 16:
			s.FaultNodes = 0
		case 17:
			s.Jump = 1 + int8(r.IntN(8))
		case 18, 19:
			one := []*uint8{&s.Faults.Empty, &s.Faults.Old, &s.Faults.Flush, &s.Faults.Forward, &s.Faults.Back,
				&s.Faults.Cut, &s.Faults.Crash, &s.Faults.Lost}
			*one[r.IntN(len(one))]++
		case 20:
			s.Durable, s.Faults.Full = uint8(r.IntN(1<<s.Nodes)), 1
		}
	}
	s.Tolerant, s.Strict = false, false // accepted, see there
	return s
}

// anything is a scenario in which everything may happen, from the beginning.
func anything(r *rand.Rand) Scenario {
	nodes := 3 + r.IntN(3)
	some := func() uint8 { return uint8(r.IntN(1 << nodes)) }
	few := func(n int) uint8 { return uint8(r.IntN(n + 1)) }
	maybe := func() bool { return r.IntN(2) == 0 }
	s := Scenario{Nodes: nodes, Proxies: 1 + r.IntN(maxProxies), Attempts: 2 + r.IntN(maxAttempts-1),
		Teachers: 1 + r.IntN(maxTeachers), TTL: int8(2 + r.IntN(7)), Limit: int8(1 + r.IntN(4)), Horizon: int8(12 + r.IntN(18)),
		Extends: few(2), Jump: int8(1 + r.IntN(6)), Split: Split(r.IntN(3)), Coexist: maybe(), LongWait: maybe(), Admit: maybe(),
		TopUps: maybe(), Releases: maybe(), Undos: maybe(), Quiet: maybe()}
	s.Faults = Faults{Empty: few(1), Old: few(1), Flush: few(2), Forward: few(1), Back: few(1), Cut: few(2), Crash: few(1), Lost: few(1)}
	if r.IntN(4) == 0 {
		s.Durable, s.Faults.Full = some(), few(2)
	}
	switch r.IntN(4) {
	case 0:
		s.New, s.Admit = true, true
	case 1:
		s.Held = 1<<(nodes/2+1) - 1
	case 2:
		s.Held, s.Forgot = 1<<(nodes/2+1)-1, nodeA
	}
	return s
}

// smallScenario is one whose states can all be visited; cost is the budget it wants.
type smallScenario struct {
	Scenario
	cost float64
}

func small() []smallScenario {
	base := Scenario{Nodes: 3, Proxies: 1, Attempts: 2, Teachers: 1, TTL: 3, Limit: 1, Horizon: 3, Jump: 3,
		Held: nodeA | nodeC, FaultNodes: nodeC, Lean: true, Quiet: true, Split: TailApart}
	vary := func(name string, cost float64, change func(*Scenario)) smallScenario {
		s := base
		s.Name = name
		change(&s)
		return smallScenario{s, cost}
	}
	return []smallScenario{
		vary("a lock, C forgot it", 0, func(s *Scenario) { s.Forgot, s.TTL, s.Horizon = nodeC, 4, 4 }),
		vary("a lock, C restarts empty", 0, func(s *Scenario) { s.Faults.Empty = 1 }),
		vary("a lock, the clock of C steps", 2, func(s *Scenario) { s.Faults.Forward = 1 }),
		vary("a take, its yes from C is counted, C forgot it", 0, func(s *Scenario) {
			s.Held, s.Forgot, s.Voted, s.Asked = 0, nodeC, nodeC, nodeA
			s.TTL, s.Limit, s.Horizon = 4, 2, 4
		}),
		vary("two proxies, a take each", 0, func(s *Scenario) { s.Held, s.Proxies, s.Split = 0, 2, Whole }),
		vary("a lock, C forgot it and restarts with an old snapshot", 2, func(s *Scenario) { s.Forgot, s.Faults.Old = nodeC, 1 }),
		vary("a lock, C is flushed", 3, func(s *Scenario) { s.Faults.Flush = 1 }),
		vary("a lock, C forgot it, two teachers", 10, func(s *Scenario) { s.Forgot, s.Teachers = nodeC, 2 }),
		vary("two takes, C is flushed", 10, func(s *Scenario) { s.Held, s.Split, s.Horizon, s.Faults.Flush = 0, Whole, 2, 1 }),
	}
}

// accepted are scenarios with a double grant that no rule prevents.
func accepted() map[string]Scenario {
	base := Scenario{Nodes: 3, Proxies: 1, Attempts: 2, Teachers: 1, TTL: 8, Limit: 2, Horizon: 9, Quiet: true,
		Held: nodeA | nodeC, FaultNodes: nodeC, Jump: 8}
	thereAndBack := base
	thereAndBack.Returns, thereAndBack.Faults = true, Faults{Forward: 1, Back: 1}
	belowTolerance := base
	belowTolerance.Tolerant, belowTolerance.Faults = true, Faults{Forward: 1, Crash: 1}
	allAtOnce := base
	allAtOnce.Strict, allAtOnce.Admit, allAtOnce.FaultNodes, allAtOnce.Faults = true, true, 0, Faults{Flush: 3}
	return map[string]Scenario{
		"a clock steps there and back between two looks":              thereAndBack,
		"a step below clock-tolerance, and nobody who knew the clock": belowTolerance,
		"every node is flushed, a new fleet is admitted":              allAtOnce,
	}
}
