package quorum

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Rules are the numbers of the game. All redlockd over the same nodes must have the same RoundLimit.
type Rules struct {
	MaxTTL     time.Duration // the longest time to live of a lock, before padding
	RoundLimit time.Duration // R: a majority that is complete later grants nothing
	// SplitRetries is how often a take is tried again after a split vote, each time after half
	// to all of SplitDelay (R18).
	SplitRetries int
	SplitDelay   time.Duration
	// InFlight is how many rounds may be without a verdict at a time. More of them wait before they are
	// sent, where waiting costs them nothing: under overload nodes would answer all of them too late.
	InFlight int
}

// Fleet is all configured nodes.
type Fleet struct {
	nodes []Node
	names []string
	rules Rules

	// Clock must be monotonic and not stand still while the machine is suspended.
	clock func() time.Duration
	// chance is in [0, 1).
	chance func() float64
	// encode fills in Request.Wire; may be nil.
	encode func(*Request)

	// flying has an element for every round without a verdict, and for every reservation.
	flying chan struct{}

	// order makes all pipes get the rounds in the same order, so that two clients of
	// this proxy can never split a vote between them.
	order sync.Mutex

	unsent   atomic.Int64 // rounds that lie on the pipes since the last flush began
	flushing atomic.Bool

	stats struct{ granted, denied, undecided, late, splits, undone, toppedUp atomic.Uint64 }
}

// Stats counts since the start. Rounds that read or count are counted like all others.
type Stats struct {
	Granted, Denied, Undecided uint64
	Late                       uint64 // a majority said yes, but not in time; counted as undecided too
	Splits                     uint64 // rounds repeated after a split vote
	Undone                     uint64 // acceptances of single nodes that were taken back
	ToppedUp                   uint64 // nodes that a lock was sent to after it was granted without them
}

// NewFleet of nodes. See the fields of Fleet for clock, chance and encode.
func NewFleet(nodes []Node, rules Rules, clock func() time.Duration, chance func() float64, encode func(*Request)) *Fleet {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name()
	}
	if encode == nil {
		encode = func(*Request) {}
	}
	return &Fleet{
		nodes: nodes, names: names, rules: rules, clock: clock, chance: chance, encode: encode,
		flying: make(chan struct{}, max(1, rules.InFlight)),
	}
}

// Now is our clock.
func (f *Fleet) Now() time.Duration { return f.clock() }

// Stats is a snapshot.
func (f *Fleet) Stats() Stats {
	s := &f.stats
	return Stats{
		s.granted.Load(), s.denied.Load(), s.undecided.Load(), s.late.Load(), s.splits.Load(), s.undone.Load(), s.toppedUp.Load(),
	}
}

// States are snapshots of all nodes, in the order they are configured.
func (f *Fleet) States() []NodeState {
	states := make([]NodeState, len(f.nodes))
	for i, n := range f.nodes {
		states[i] = n.State()
	}
	return states
}

// Admit lets the node of that name vote again on the operator's word (P10).
func (f *Fleet) Admit(name string) error {
	i := slices.Index(f.names, name)
	if i < 0 {
		return fmt.Errorf("no node is called %.128q; the nodes are %s", name, strings.Join(f.names, ", "))
	}
	return f.nodes[i].Admit()
}

// Ticket is what the asker holds while its request is on its way. Its methods are for
// one goroutine: Start, Wait, then Confirm, then perhaps GiveBack.
type Ticket struct {
	Request Request // what is asked, to be filled in before Start

	fleet *Fleet
	run   *run
	// first is what run points to, until a split vote is tried again. It stands here, with room for all that a round
	// of an ordinary fleet is about, so that a round is one allocation.
	first run
	slots [ordinaryFleet]slot
	wire  [ordinaryWire]byte
}

const (
	ordinaryFleet = 5   // nodes
	ordinaryWire  = 128 // bytes of a request: a take with a key of 30 and a token of 36 bytes has 115
)

// run is one round on its way. It is a Voter of all nodes.
type run struct {
	fleet *Fleet
	done  sync.WaitGroup // until there is a verdict
	mu    sync.Mutex     // guards round
	round Round
}

// TryReserve reserves room for one round in flight, if there is any.
func (f *Fleet) TryReserve() bool {
	select {
	case f.flying <- struct{}{}:
		return true
	default:
		return false
	}
}

// Reserve waits for room. It is made by verdicts, each of which comes in bounded time.
func (f *Fleet) Reserve() { f.flying <- struct{}{} }

// Release gives up a reservation that no Start will use.
func (f *Fleet) Release() { <-f.flying }

// NewTicket for a request, in the room that was reserved.
func (f *Fleet) NewTicket() *Ticket { return &Ticket{fleet: f} }

// Start carries the request to every node, and does not wait. The nodes get it with the
// next Flush or Wait. now is our clock, read by the caller: T1, before the first byte is sent (R10). The rounds of
// one batch may share it: it makes a round count as longer than it was, never shorter.
func (t *Ticket) Start(now time.Duration) {
	t.Request.Wire = t.wire[:0]
	t.fleet.encode(&t.Request)
	if len(t.fleet.nodes) <= len(t.slots) {
		t.first.round.slots = t.slots[:len(t.fleet.nodes)]
	}
	t.run = &t.first
	t.fleet.carry(t.run, &t.Request, now)
}

func (f *Fleet) carry(r *run, req *Request, now time.Duration) {
	r.fleet = f
	r.done.Add(1)
	r.round.begin(req, len(f.nodes), now, f.rules.MaxTTL)
	f.order.Lock()
	defer f.order.Unlock()
	for i, n := range f.nodes {
		n.Send(req, now, r, i) // R11
	}
	f.unsent.Add(1)
}

// Flush lets the pipes write what was started until now. It does not wait. Whoever comes while another is at it leaves it to
// them: one flush for many rounds.
func (f *Fleet) Flush() {
	if f.unsent.Load() == 0 || !f.flushing.CompareAndSwap(false, true) {
		return // whoever is at it looks once more when it is done
	}
	f.flushOnce()
	if f.unsent.Load() > 0 {
		go f.flushOn() // for the others: our own client must not wait for that
	}
}

func (f *Fleet) flushOn() {
	for f.unsent.Load() > 0 && f.flushing.CompareAndSwap(false, true) {
		f.flushOnce()
	}
}

// flushOnce lets all others who can run start their rounds first: the more there are in a flush, the less it costs each of them.
func (f *Fleet) flushOnce() {
	if len(f.flying) > 1 {
		runtime.Gosched()
	}
	f.unsent.Store(0) // before the pipes are looked at: what is started from here on is counted anew
	now := f.clock()
	for _, n := range f.nodes {
		n.Flush(now)
	}
	f.flushing.Store(false)
}

// Hear implements Voter.
func (r *run) Hear(i int, a Answer) {
	r.mu.Lock()
	open := r.round.ruling.Verdict == Open
	amends := r.round.Hear(i, a)
	decided := open && r.round.ruling.Verdict != Open
	r.mu.Unlock()
	r.fleet.amend(amends)
	if decided {
		<-r.fleet.flying
		r.done.Done()
	}
}

// amend hands the nodes what they must still be told. It does not depend on any client: the
// nodes keep it for as long as it may be told.
func (f *Fleet) amend(list []Amend) {
	for _, a := range list {
		switch a.Req.Op {
		case TakeBack:
			f.stats.undone.Add(1)
		case TopUp:
			f.stats.toppedUp.Add(1)
		}
		f.nodes[a.Node].Owe(a.Req, a.Until)
	}
}

func (r *run) wait() Ruling {
	r.done.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.round.ruling
}

// Wait for the verdict. Every node that has not answered when it is due is counted as unknown. A
// take whose vote was split is tried again, a few times, if it is the last of what its client has asked
// for so far: tried again later, it would overtake what the client has sent behind it.
func (t *Ticket) Wait(last bool) {
	for try := 0; ; try++ {
		t.fleet.Flush()
		ruling := t.run.wait()
		if !last || try == t.fleet.rules.SplitRetries || !t.split(ruling) {
			return
		}
		t.fleet.stats.splits.Add(1)
		time.Sleep(Jitter(t.fleet.rules.SplitDelay, t.fleet.chance())) // R18
		again := &run{}
		t.fleet.Reserve()
		t.fleet.carry(again, t.run.round.req, t.fleet.clock())
		t.run = again
	}
}

// Denied says, after Wait, whether a majority answered and said no.
func (t *Ticket) Denied() bool { return t.run.wait().Verdict == Denied }

// split asks, after a take that some nodes accepted and too few, whether anybody has
// the lock. Our own acceptances were taken back on the same pipes before the question. A denial that came
// before any yes was heard is not looked into: that is what polling for a held lock looks like, and
// it must stay cheap.
func (t *Ticket) split(r Ruling) bool {
	req := t.run.round.req
	if req.Op != Take || req.Fixed || !r.Votes.Split() {
		return false
	}
	keys := req.Keys
	if len(keys) == 0 {
		keys = [][]byte{req.Key}
	}
	for _, key := range keys {
		t.fleet.Reserve()
		who := t.fleet.NewTicket()
		who.Request = Request{Op: Get, Key: key}
		who.Start(t.fleet.clock())
		t.fleet.Flush()
		holder := who.run.wait()
		if holder.Verdict == Granted || holder.Votes.Yes+holder.Votes.No < Majority(len(t.fleet.nodes)) {
			return false
		}
	}
	return true // a majority has answered, and nobody is known to hold a majority
}

// Confirm is the last word, at now on our clock: to be read just before the reply is
// written (T2, R14). The error is not nil if and only if the verdict is Undecided.
func (t *Ticket) Confirm(now time.Duration) (Ruling, *NoQuorum) {
	t.run.mu.Lock()
	granted := t.run.round.ruling.Verdict == Granted
	ruling, amends := t.run.round.Confirm(now, t.fleet.rules.RoundLimit)
	var err *NoQuorum
	if ruling.Verdict == Undecided {
		err = t.run.round.explain(t.fleet.names)
	}
	t.run.mu.Unlock()
	t.fleet.amend(amends)

	s := &t.fleet.stats
	switch {
	case ruling.Verdict == Granted:
		s.granted.Add(1)
	case ruling.Verdict == Denied:
		s.denied.Add(1)
	default:
		s.undecided.Add(1)
	}
	if err != nil && granted {
		s.late.Add(1)
		req := t.run.round.req
		err.Late, err.Spent = true, now-t.run.round.began
		err.Limit = max(0, min(t.fleet.rules.RoundLimit, Validity(req.TTL, req.Life, 0), req.TTL))
	}
	return ruling, err
}

// GiveBack undoes a confirmed take whose client could not be told.
func (t *Ticket) GiveBack() {
	t.run.mu.Lock()
	amends := t.run.round.Refuse(t.fleet.clock())
	t.run.mu.Unlock()
	t.fleet.amend(amends)
}
