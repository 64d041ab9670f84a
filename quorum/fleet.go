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

	// room is what rounds without a verdict, and reservations, leave of Rules.InFlight.
	room room

	// order makes all pipes get the rounds in the same order, so that two clients of
	// this proxy can never split a vote between them.
	order sync.Mutex

	tickets  sync.Pool    // of *Ticket, to be used again
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
		room: room{free: max(1, rules.InFlight)},
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

// TryReserve reserves room for n rounds in flight, if there is as much, and nobody waits for it.
func (f *Fleet) TryReserve(n int) bool { return f.room.try(n) }

// Reserve waits for room for n rounds, MaxReserve at most. It is made by verdicts, each of which comes in bounded time: so
// nobody may wait for anything else with room that is not used.
func (f *Fleet) Reserve(n int) { f.room.take(n) }

// Release gives up room that no Start will use.
func (f *Fleet) Release(n int) { f.room.give(n) }

// MaxReserve is the most that may be reserved at once: a quarter of all, so that a few large batches do not keep out everybody.
func (f *Fleet) MaxReserve() int { return max(1, f.rules.InFlight/4) }

func (f *Fleet) carry(r *run, req *Request, now time.Duration) {
	r.done.Add(1)
	r.mu.Lock()
	r.round.begin(req, len(f.nodes), now, f.rules.MaxTTL)
	r.owing = len(f.nodes)
	r.mu.Unlock()
	f.order.Lock()
	defer f.order.Unlock()
	for i, n := range f.nodes {
		n.Send(req, now, r, r.seat(i)) // R11
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
	if f.unsent.Load() > 1 || f.room.used(f.rules.InFlight) > 1 {
		runtime.Gosched()
	}
	defer f.flushing.Store(false)
	f.unsent.Store(0) // before the pipes are looked at: what is started from here on is counted anew
	now := f.clock()
	for _, n := range f.nodes {
		n.Flush(now)
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
