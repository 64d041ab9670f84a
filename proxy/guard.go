// The guard is the listener that redcon is given. It admits clients, bounds them in number, size and time, and lets redcon read
// whole commands only: on its own redcon can be crashed, spun or filled by any client.
package proxy

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Limits on clients. Zero takes the default, except for Idle, where it means never.
type Limits struct {
	MaxArgs     int // arguments of one command; a lock command has 3 to 10
	MaxBulk     int // bytes of one argument; a key, a token, or the text of a script
	MaxInline   int // bytes of one inline command, its line end not counted
	MaxCommand  int // bytes of one command in RESP form: what a single client can make us hold
	MaxPipeline int // commands handed over together, and so answered together
	MaxClients  int // connections at a time

	Idle    time.Duration // between two commands
	Command time.Duration // that we wait for the rest of a command, however it trickles
	Write   time.Duration // that a client may take to accept one batch of replies
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.MaxArgs, 1024)       // the largest multi-key lock scripts have some 100
	setDefault(&l.MaxBulk, 64<<10)     // the largest lock script known has 4 KiB
	setDefault(&l.MaxInline, 16<<10)   // nobody types more
	setDefault(&l.MaxCommand, 256<<10) // four bulks of full size
	setDefault(&l.MaxPipeline, 1024)   // more than redis-benchmark -P is ever given
	setDefault(&l.MaxClients, 10000)   // as Redis
	setDefault(&l.Command, 10*time.Second)
	setDefault(&l.Write, 10*time.Second)
	return l
}

func setDefault[T int | time.Duration](p *T, value T) {
	if *p == 0 {
		*p = value
	}
}

const (
	keepAlive = 300 * time.Second // as Redis: finds dead peers, costs a packet in five minutes

	acceptPauseMin = 5 * time.Millisecond // doubled up to the maximum while accept fails (out of file descriptors)
	acceptPauseMax = time.Second

	// Telling a client that there is no room must not hold up those that find some.
	turnAwayWithin = time.Second
	turnAwayAtOnce = 64 // goroutines; past this, closed without a word

	fullLogEvery = time.Minute // a flood of clients must not fill the log too
)

// Counters is a snapshot.
type Counters struct {
	Connections    int   // now
	Accepted       int64 // ever, without the rejected
	Rejected       int64 // max-clients reached
	ProtocolErrors int64
}

// guard implements net.Listener.
type guard struct {
	ln     net.Listener
	limits Limits
	log    *slog.Logger

	// Invariant: draining is set before any connection is woken for it, so that the woken one sees it.
	draining atomic.Bool
	stopped  chan struct{} // closed by stop
	stopOnce sync.Once
	turning  chan struct{} // a slot per goroutine that turns a client away

	mu     sync.Mutex
	conns  map[*guardedConn]struct{}
	empty  chan struct{} // closed once draining is set and conns is empty: from then on it stays empty
	closed bool          // empty has been

	accepted, rejected, protocolErrors atomic.Int64

	fullLogged time.Time // for Accept's goroutine only
}

var _ net.Listener = (*guard)(nil)

func newGuard(ln net.Listener, limits Limits, log *slog.Logger) *guard {
	return &guard{
		ln:      ln,
		limits:  limits.withDefaults(),
		log:     log,
		stopped: make(chan struct{}),
		turning: make(chan struct{}, turnAwayAtOnce),
		conns:   map[*guardedConn]struct{}{},
		empty:   make(chan struct{}),
	}
}

func (g *guard) Addr() net.Addr { return g.ln.Addr() }

// Accept returns an error only after stop: redcon answers net.ErrClosed by closing every connection, and any other error by calling
// again at once.
func (g *guard) Accept() (net.Conn, error) {
	pause := time.Duration(0)
	for {
		conn, err := g.ln.Accept()
		if err == nil {
			pause = 0
			if c := g.admit(conn); c != nil {
				return c, nil
			}
			continue
		}
		if g.draining.Load() {
			<-g.stopped
			return nil, net.ErrClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, net.ErrClosed
		}
		pause = min(max(2*pause, acceptPauseMin), acceptPauseMax)
		g.log.Warn("cannot accept clients, trying again", "err", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-g.stopped:
		}
	}
}

// admit returns nil when the connection has been dealt with.
func (g *guard) admit(conn net.Conn) *guardedConn {
	keepAlivePeer(conn)
	c := &guardedConn{Conn: conn, guard: g}
	c.framer.limits = &g.limits
	g.mu.Lock()
	draining := g.draining.Load()
	full := len(g.conns) >= g.limits.MaxClients
	if !draining && !full {
		g.conns[c] = struct{}{}
	}
	g.mu.Unlock()
	switch {
	case draining:
		conn.Close()
	case full:
		g.turnAway(conn)
	default:
		g.accepted.Add(1)
		return c
	}
	return nil
}

func keepAlivePeer(conn net.Conn) {
	if tls, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = tls.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Best effort: a connection without probes is no reason to refuse it.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive / 3, Count: 3})
	}
}

func (g *guard) turnAway(conn net.Conn) {
	g.rejected.Add(1)
	if now := time.Now(); now.Sub(g.fullLogged) > fullLogEvery {
		g.fullLogged = now
		g.log.Warn("max-clients reached, turning clients away", "max-clients", g.limits.MaxClients)
	}
	select {
	case g.turning <- struct{}{}:
	default:
		conn.Close()
		return
	}
	go func() {
		defer func() { <-g.turning }()
		defer conn.Close()
		if conn.SetDeadline(time.Now().Add(turnAwayWithin)) == nil {
			_, _ = conn.Write([]byte("-ERR max number of clients reached\r\n"))
		}
	}()
}

// forget is called once per admitted connection, when it has closed.
func (g *guard) forget(c *guardedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
	g.closeEmpty()
}

// closeEmpty needs mu.
func (g *guard) closeEmpty() {
	if g.draining.Load() && len(g.conns) == 0 && !g.closed {
		g.closed = true
		close(g.empty)
	}
}

// drain admits nobody any more and lets every connection end where its next command would begin: at once when it is idle, else when
// what it has sent is answered. Accept stays blocked.
func (g *guard) drain() {
	if g.draining.Swap(true) {
		return
	}
	g.ln.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		_ = c.Conn.SetReadDeadline(longAgo) // wakes its Read, which looks at draining; fails only if closed
	}
	g.closeEmpty()
}

// drained is closed when drain has been called and the last connection has closed.
func (g *guard) drained() <-chan struct{} { return g.empty }

// stop ends Accept. redcon then closes the connections that are left, in the middle of whatever they do.
func (g *guard) stop() {
	g.drain()
	g.stopOnce.Do(func() { close(g.stopped) })
}

// Close is stop: redcon calls it when it shuts down.
func (g *guard) Close() error {
	g.stop()
	return nil
}

func (g *guard) counters() Counters {
	g.mu.Lock()
	now := len(g.conns)
	g.mu.Unlock()
	return Counters{
		Connections:    now,
		Accepted:       g.accepted.Load(),
		Rejected:       g.rejected.Load(),
		ProtocolErrors: g.protocolErrors.Load(),
	}
}
