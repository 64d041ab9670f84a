package backend

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlockd/quorum"
)

var (
	errDialing = errors.New("not connected yet")
	errSilent  = errors.New("not answering")
	errClosed  = errors.New("closed")
	errUnasked = errors.New("a reply that nobody asked for")
	errUntold  = errors.New("not told yet what it is owed")
)

// Options of a pipe.
type Options struct {
	Network, Address   string // "tcp" or "unix", and where
	Username, Password string // both may be empty
	DB                 int
	Name               string // for people, without a secret

	Patience     quorum.Patience
	DialTimeout  time.Duration // to connect, log in and load our scripts
	ReconnectMin time.Duration
	ReconnectMax time.Duration
	Queue        int // requests that the node has not answered, at most
	Owed         int // undo, release and top-up requests kept while it is away, at most

	MaxLife   time.Duration // of a key on a node, padding included (P10)
	Tolerance time.Duration // by how much wall clocks may differ, for CheckWall

	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Clock func() time.Duration
	Wall  func() time.Time
	Log   *slog.Logger
}

// Pipe is a node behind one connection at a time. It connects by itself, and again
// whenever the connection is lost, until it is closed.
type Pipe struct {
	opts   Options
	fleet  *fleet
	index  int // in the fleet
	cancel context.CancelFunc
	// leaveAlone ends teaching and attending, before the pipe itself ends.
	leaveAlone context.CancelFunc
	done       sync.WaitGroup // until connect, attend and teach have returned

	nudge chan struct{} // what is known of the node's memory or clock has changed
	alarm chan struct{} // the node's clock has jumped
	admit atomic.Bool   // an operator's word is to be acted on

	// current is the link that new requests go to; nil while the node is not worth asking.
	// Changed only under mu.
	current atomic.Pointer[link]

	mu      sync.Mutex
	link    *link // the connection, also while it is silent
	health  quorum.Health
	since   time.Duration
	why     error // what was wrong last; nil if nothing ever was
	whyAt   time.Duration
	logged  map[string]bool // refusals of this connection that the log has
	met     peer            // as the node told when it was connected last
	noted   map[string]bool // codes of the findings that the log has
	trust   trust
	owed    []call
	telling bool          // tellOwed is about to run
	purge   time.Duration // not before
	dropped uint64
}

var _ quorum.Node = (*Pipe)(nil)

// Name implements quorum.Node.
func (p *Pipe) Name() string { return p.opts.Name }

// Send implements quorum.Node.
func (p *Pipe) Send(req *quorum.Request, now time.Duration, voter quorum.Voter, i int) {
	var err error
	if l := p.current.Load(); l != nil {
		err = l.send(call{req: req, voter: voter, i: i, sent: now}, now)
		if err == nil && p.current.Load() != l {
			l.wake() // it fell silent meanwhile: no Flush comes here
		}
	} else {
		err = p.reason()
	}
	if err != nil {
		voter.Hear(i, quorum.Answer{Trace: quorum.Nothing, At: now, Err: err})
	}
}

// Flush implements quorum.Node.
func (p *Pipe) Flush(now time.Duration) {
	if l := p.current.Load(); l != nil {
		l.flush(now, false)
	}
}

// Owe implements quorum.Node.
func (p *Pipe) Owe(req *quorum.Request, until time.Duration) {
	p.owe(call{req: req, until: until})
}

func (p *Pipe) owe(c call) {
	if c.own != nil {
		return // it was about the connection that was lost
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.Load() == nil && !p.roomFor(c.req) {
		return // quickly: this is every lock that is taken while a node is away
	}
	now := p.opts.Clock()
	if now >= c.until {
		return
	}
	c.sent = now
	if l := p.current.Load(); l != nil && p.timely(c) && l.send(c, now) == nil {
		return
	}
	p.keep(c, now)
}

// timely says, with mu held, that the call may be told as far as the node's memory is concerned.
func (p *Pipe) timely(c call) bool { return !c.req.Later || p.trust.vouched || !watched }

// keep holds what is owed until the node can be told. When there is no room the newest is
// dropped: the oldest is likeliest to have been set before the node went away.
//
// Top-ups have half of the room: they make a lock survive more, and are not needed to free one.
func (p *Pipe) keep(c call, now time.Duration) {
	if !p.roomFor(c.req) {
		return
	}
	if len(p.owed) >= p.opts.Owed && now >= p.purge {
		p.forgetOwed(now)
	}
	if len(p.owed) >= p.opts.Owed {
		p.dropped++
		return
	}
	p.owed = append(p.owed, c)
	p.tellLater()
}

func (p *Pipe) roomFor(req *quorum.Request) bool {
	return req.Op != quorum.TopUp || len(p.owed) < p.opts.Owed/2
}

// tellLater arms tellOwed, with mu held, if there is something to tell to a node that is up.
func (p *Pipe) tellLater() {
	if !p.telling && len(p.owed) > 0 && p.current.Load() != nil {
		p.telling = true
		time.AfterFunc(retryOwed, p.tellOwed)
	}
}

// purgeEvery is how often what is owed is looked through for what need not be told any more, at most.
const purgeEvery = time.Second

// forgetOwed makes room, with mu held.
func (p *Pipe) forgetOwed(now time.Duration) {
	p.purge = now + purgeEvery
	live := p.owed[:0]
	for _, o := range p.owed {
		if now < o.until {
			live = append(live, o)
		}
	}
	clear(p.owed[len(live):])
	p.owed = live
}

// lose gives up a call of a link that was lost.
func (p *Pipe) lose(c call, a quorum.Answer) {
	if c.voter != nil {
		c.voter.Hear(c.i, a)
		return
	}
	p.owe(c)
}

func (p *Pipe) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		return errDialing
	}
	return p.why
}

// State implements quorum.Node.
func (p *Pipe) State() quorum.NodeState {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.opts.Clock()
	s := quorum.NodeState{
		Name: p.opts.Name, Health: p.health, Since: p.since, Dropped: p.dropped,
		Version: p.met.version, RunID: p.met.runID, Role: p.met.role,
		Vouched: p.trust.vouched, VouchedSince: p.trust.since, VouchedWhy: p.trust.why, Teaching: p.trust.teaching,
	}
	for i := range p.owed {
		if now < p.owed[i].until && p.owed[i].req.Op != quorum.TopUp {
			s.Owed++
		}
	}
	if p.why != nil {
		s.Why, s.WhyAt = p.why.Error(), p.whyAt
	}
	if p.link != nil {
		p.link.mu.Lock()
		s.Queued = p.link.calls.n + p.link.landing
		s.Latency = p.link.latency
		clock := p.link.watch.Clock()
		if r, ok := clock.Best(); ok {
			s.ClockOffset = offset(r, p.wall())
		}
		s.ClockDrift = clock.Drift()
		p.link.mu.Unlock()
	}
	return s
}

// change notes the health, with p.mu held, and logs what has changed, once.
func (p *Pipe) change(h quorum.Health, now time.Duration, why error) {
	changed := h != p.health
	if why != nil {
		changed = changed || p.why == nil
		p.why, p.whyAt = why, now
	}
	if h != p.health {
		p.health, p.since = h, now
	}
	if !changed || why == errClosed {
		return
	}
	if h == quorum.Up {
		p.opts.Log.Info("node is up", "node", p.opts.Name, "version", p.met.version)
	} else {
		p.opts.Log.Warn("node is "+h.String(), "node", p.opts.Name, "why", why)
	}
}

// retry keeps what is owed for another try: the node has answered it with an error. A top-up is not tried again: it could
// come behind the release that was sent meanwhile, and nobody would take it back.
func (p *Pipe) retry(c call) {
	if c.req.Op == quorum.TopUp {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(c, p.opts.Clock())
}

// retryOwed is how long what is owed to a node that is up waits for another try.
const retryOwed = 300 * time.Millisecond

// tellOwed runs a while after something could not be told to a node that is up. It tells a flight's worth at a time:
// a node that refuses everything must not be kept busy with it.
func (p *Pipe) tellOwed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.telling = false
	if l := p.current.Load(); l != nil {
		p.sendOwed(l, maxFlight)
		p.tellLater()
	}
}

// sendOwed sends the oldest n of what is owed and timely, with mu held. What there is no room for is kept, in its order: a top-up
// must not come behind the release that followed it.
func (p *Pipe) sendOwed(l *link, n int) {
	now := p.opts.Clock()
	kept := p.owed[:0]
	for _, c := range p.owed {
		if now >= c.until {
			continue
		}
		if n > 0 && p.timely(c) {
			n--
			c.sent = now
			if l.send(c, now) == nil {
				continue
			}
			n = 0
		}
		kept = append(kept, c)
	}
	clear(p.owed[len(kept):])
	if p.owed = kept; len(kept) == 0 {
		p.owed = nil // a burst is over
	}
}

// refused notes an error that the node has answered with, and logs each kind of it once a connection. The node is
// up, but its votes are unknown: without a word in the log that would be found out when another node fails.
func (p *Pipe) refused(err error) {
	kind, _, _ := strings.Cut(err.Error(), " ")
	if kind == "WRONGTYPE" {
		return // a client has asked for what is no lock
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why, p.whyAt = err, p.opts.Clock()
	if p.logged[kind] || len(p.logged) >= maxKinds {
		return
	}
	p.logged[kind] = true
	p.opts.Log.Warn("node refuses requests", "node", p.opts.Name, "why", err)
}

// maxKinds bounds what a node that invents errors can put into the log.
const maxKinds = 32

// enter makes l the link in use. What is owed goes first: so that a release kept for the node can
// not delete a lock that is taken with the same token from now on.
func (p *Pipe) enter(l *link) {
	p.sendOwed(l, len(p.owed))
	p.link = l
	p.current.Store(l)
	p.change(quorum.Up, p.opts.Clock(), nil)
	p.noteTrust(l)
	p.tellLater() // what there was no room for
}

// heard: the node has spoken on l.
func (p *Pipe) heard(l *link) {
	if p.current.Load() == l {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l && p.health == quorum.Silent {
		p.enter(l)
	}
}

// silent: the node owes answers on l and has said nothing for four node timeouts.
func (p *Pipe) silent(l *link, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l && p.health == quorum.Up {
		p.current.Store(nil)
		l.wake() // what was to be flushed: no Flush comes here any more, and until it is written nobody is told that it is late
		p.change(quorum.Silent, now, errSilent)
	}
}

// retire gives l up for its silence.
func (p *Pipe) retire(l *link) {
	p.leave(l, errSilent)
	l.retire()
}

// leave: l is not in use any more.
func (p *Pipe) leave(l *link, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l {
		p.link = nil
		p.current.Store(nil)
		p.fleet.unclaim(p)
		p.admit.Store(false) // it was about this instance
		if p.trust.vouched {
			p.trust.vouched, p.trust.since, p.trust.why = false, p.opts.Clock(), "not connected"
		}
		p.change(quorum.Down, p.opts.Clock(), why)
	}
}

// delivering says that the node is up, and has something to answer or to be told still.
func (p *Pipe) delivering() bool {
	s := p.State()
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.Health == quorum.Up && (s.Queued > 0 || slices.ContainsFunc(p.owed, func(c call) bool {
		return c.req.Op != quorum.TopUp && p.timely(c) && p.opts.Clock() < c.until
	}))
}

// Close waits until the node has answered what it was sent and is owed, unless it does not answer, but not
// longer than ctx, and ends the pipe.
func (p *Pipe) Close(ctx context.Context) {
	p.leaveAlone()
	for ctx.Err() == nil && p.delivering() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	p.cancel()
	p.done.Wait()
	if owed := p.State().Owed; owed > 0 {
		p.opts.Log.Warn("undo and release requests were not delivered: their locks end by themselves", "node", p.opts.Name, "requests", owed)
	}
}
