package quorum

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// scripted is a node that says what it is told to, at once.
type scripted struct {
	name string
	say  func(*Request) Answer
	hold chan Voter // not nil: says nothing, but who wants to know

	mu   sync.Mutex
	sent []*Request // what they point to is ours only until our last word
	ops  []Op
	owed []*Request
}

func (s *scripted) Name() string     { return s.name }
func (s *scripted) State() NodeState { return NodeState{Name: s.name} }
func (s *scripted) Admit() error     { return nil }

func (s *scripted) Send(req *Request, now time.Duration, voter Voter, i int) {
	s.mu.Lock()
	s.sent, s.ops = append(s.sent, req), append(s.ops, req.Op)
	s.mu.Unlock()
	runtime.Gosched() // whoever may overtake, shall
	if s.hold != nil {
		s.hold <- voter
		return
	}
	a := s.say(req)
	a.At = now
	voter.Hear(i, a)
}

func (s *scripted) Flush(time.Duration) {}

func (s *scripted) Owe(req *Request, _ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed = append(s.owed, req)
}

// scriptedFleet of nodes that each always give the same answer to a take.
func scriptedFleet(rules Rules, clock func() time.Duration, answers ...Answer) (*Fleet, []*scripted) {
	var nodes []Node
	var all []*scripted
	for i, a := range answers {
		s := &scripted{name: fmt.Sprintf("n%d", i), say: func(*Request) Answer { return a }}
		nodes, all = append(nodes, s), append(all, s)
	}
	return NewFleet(nodes, rules, clock, func() float64 { return 0 }, nil), all
}

var someRules = Rules{MaxTTL: time.Hour, RoundLimit: 500 * ms, SplitRetries: 2, SplitDelay: 2 * ms, InFlight: 100}

func start(f *Fleet, now time.Duration) *Ticket {
	f.Reserve(1)
	t := f.NewTicket()
	t.Request = *aTake()
	t.Start(now)
	return t
}

func aTake() *Request {
	return &Request{Op: Take, Key: []byte("k"), Token: []byte("t"), TTL: time.Second, Life: Pad(time.Second)}
}

// T1 is the caller's reading from before the round, T2 the one just before the reply: what
// goes by in between, wherever, counts.
func TestR10ClockIsReadBeforeTheFirstByte(t *testing.T) {
	now := 100 * ms
	f, nodes := scriptedFleet(someRules, func() time.Duration { return now }, yes, yes, yes)
	t1 := f.Now()
	now += 499 * ms
	ticket := start(f, t1)
	ticket.Wait(true)
	if r, err := ticket.Confirm(f.Now()); r.Verdict != Granted || err != nil {
		t.Fatalf("%v %v", r.Verdict, err)
	}
	now += 1 * ms
	r, err := ticket.Confirm(f.Now())
	if r.Verdict != Undecided || err == nil || !err.Late || err.Spent != 500*ms {
		t.Fatalf("%v %v", r.Verdict, err)
	}
	for _, n := range nodes {
		if len(n.owed) != 1 || n.owed[0].Op != TakeBack {
			t.Fatalf("%s is owed %v", n.name, n.owed)
		}
	}
}

// Every node gets the rounds in the same order, however many ask at once.
func TestAllNodesGetTheRoundsInTheSameOrder(t *testing.T) {
	f, nodes := scriptedFleet(someRules, func() time.Duration { return 0 }, yes, yes, yes)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				ticket := start(f, 0)
				ticket.Wait(true)
				ticket.Confirm(0)
			}
		})
	}
	wait.Wait()
	if len(nodes[0].sent) != 800 {
		t.Fatalf("%d rounds", len(nodes[0].sent))
	}
	for _, n := range nodes[1:] {
		if !slices.Equal(n.sent, nodes[0].sent) {
			t.Fatalf("%s had another order than %s", n.name, nodes[0].name)
		}
	}
	if s := f.Stats(); s.Granted != 800 {
		t.Fatalf("%+v", s)
	}
}

// A split vote is undone before the question who has the lock, and before the next try.
func TestR18SplitIsUndoneThenRetried(t *testing.T) {
	f, nodes := scriptedFleet(someRules, func() time.Duration { return 0 }, yes, yes, no, no, Answer{})
	for _, n := range nodes {
		toTake := n.say
		n.say = func(r *Request) Answer {
			if r.Op == Get {
				return no // nobody has it
			}
			return toTake(r)
		}
	}
	ticket := start(f, 0)
	ticket.Wait(true)
	if r, _ := ticket.Confirm(0); r.Verdict != Undecided {
		t.Fatal(r.Verdict)
	}
	ops := nodes[0].ops
	if want := []Op{Take, Get, Take, Get, Take}; !slices.Equal(ops, want) || f.Stats().Splits != 2 {
		t.Fatal(ops, f.Stats())
	}
	if len(nodes[0].owed) != 3 || len(nodes[2].owed) != 0 {
		t.Fatalf("owed: %d and %d", len(nodes[0].owed), len(nodes[2].owed))
	}
}

// A client that is gone before the verdict: what is granted later is given back.
func TestGiveBackBeforeTheVerdict(t *testing.T) {
	f, nodes := scriptedFleet(someRules, func() time.Duration { return 0 }, yes, yes, yes)
	var hold []func()
	for _, n := range nodes {
		n.say = func(*Request) Answer { return Answer{Trace: Awaited} }
	}
	ticket := start(f, 0)
	ticket.GiveBack()
	for i := range nodes {
		hold = append(hold, func() { ticket.run.Hear(i, yes) })
	}
	for _, late := range hold {
		late()
	}
	for _, n := range nodes {
		if len(n.owed) != 1 {
			t.Fatalf("%s is owed %d", n.name, len(n.owed))
		}
	}
}

// More rounds than may be in flight wait, and are counted from when they were sent.
func TestRoundsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		rules := someRules
		rules.InFlight = 2
		f, nodes := scriptedFleet(rules, func() time.Duration { return time.Since(started) }, yes)
		voters := make(chan Voter, 10)
		nodes[0].hold = voters
		var granted atomic.Int64
		for range 5 {
			go func() {
				f.Reserve(1)
				ticket := f.NewTicket()
				ticket.Request = *aTake()
				ticket.Start(f.Now())
				ticket.Wait(true)
				if r, err := ticket.Confirm(f.Now()); r.Verdict == Granted {
					granted.Add(1)
				} else {
					t.Error(err)
				}
			}()
		}
		for n := range 5 {
			synctest.Wait()
			if len(voters) != min(2, 5-n) {
				t.Fatalf("%d rounds in flight", len(voters))
			}
			time.Sleep(100 * ms) // the last is heard when the round limit has passed since the first began
			(<-voters).Hear(0, yes)
		}
		synctest.Wait()
		if granted.Load() != 5 {
			t.Fatalf("%d granted", granted.Load())
		}
	})
}

// A take that is not the last of its batch is not tried again: it would overtake what comes behind it. Nor is
// one that ends at a named instant.
func TestR18NotTriedAgain(t *testing.T) {
	for _, c := range []struct{ last, fixed bool }{{false, false}, {true, true}} {
		f, nodes := scriptedFleet(someRules, func() time.Duration { return 0 }, yes, yes, no, no, no)
		f.Reserve(1)
		ticket := f.NewTicket()
		ticket.Request = *aTake()
		ticket.Request.Fixed = c.fixed
		ticket.Start(0)
		ticket.Wait(c.last)
		if r, _ := ticket.Confirm(0); r.Verdict != Denied || f.Stats().Splits != 0 {
			t.Fatalf("%+v: %v, %+v", c, r.Verdict, f.Stats())
		}
		if len(nodes[0].owed) != 1 || len(nodes[0].sent) != 1 {
			t.Fatalf("%+v: owed %d, sent %d", c, len(nodes[0].owed), len(nodes[0].sent))
		}
	}
}

// Who errs in the name of a node is told the names, and no more of the mistake than can be read.
func TestAdmitKnowsItsNodes(t *testing.T) {
	f := NewFleet([]Node{&scripted{name: "a:1"}, &scripted{name: "b:2"}}, Rules{}, nil, nil, nil)
	if err := f.Admit("b:2"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"b":                      `no node is called "b"; the nodes are a:1, b:2`,
		"b:2\n":                  `no node is called "b:2\n"; the nodes are a:1, b:2`,
		strings.Repeat("x", 129): `no node is called "` + strings.Repeat("x", 128) + `"; the nodes are a:1, b:2`,
	} {
		if err := f.Admit(name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
