package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/redcon"

	"redlockd/commands"
	"redlockd/quorum"
)

// Options of a server.
type Options struct {
	Fleet   *quorum.Fleet
	Scripts *commands.Scripts
	Locks   LockRules
	Clients Limits
	Version string // of redlockd
	Log     *slog.Logger
}

// Server speaks to clients.
type Server struct {
	Options
	started time.Time
	runID   string
	hub     *hub

	mu       sync.Mutex
	guards   []*guard
	sessions map[int64]*session

	nextID   atomic.Int64
	commands atomic.Uint64
	batches  atomic.Uint64
	clamped  atomic.Uint64 // takes and extends whose ttl was replaced by max-ttl
	panics   atomic.Uint64
	lastLog  atomic.Int64 // unix seconds of the last log line about a clamped ttl
}

// New server. It serves once Serve is called.
func New(o Options) *Server {
	return &Server{Options: o, started: time.Now(), runID: newRunID(), hub: newHub(), sessions: map[int64]*session{}}
}

// Serve clients on ln until Shutdown, then return nil.
func (s *Server) Serve(ln net.Listener) error {
	g := newGuard(ln, s.Clients, s.Log)
	s.mu.Lock()
	s.guards = append(s.guards, g)
	s.mu.Unlock()
	front := redcon.NewServerNetwork(ln.Addr().Network(), ln.Addr().String(), s.handle, s.accept, s.closed)
	err := front.Serve(g)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Shutdown accepts nobody any more, finishes what is in flight, closes clients at a
// command boundary, and cuts off those that are left when ctx is done.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	guards := s.guards
	s.mu.Unlock()
	for _, g := range guards {
		g.drain()
	}
	for _, g := range guards {
		select {
		case <-g.drained():
		case <-ctx.Done():
			s.Log.Warn("clients cut off", "connections", g.counters().Connections)
		}
		g.stop()
	}
}

// accept runs in redcon's accept loop: it must not block.
func (s *Server) accept(conn redcon.Conn) bool {
	c := newSession(s, conn)
	conn.SetContext(c)
	s.mu.Lock()
	s.sessions[c.id] = c
	s.mu.Unlock()
	return true
}

// closed runs under redcon's lock: it must not block.
func (s *Server) closed(conn redcon.Conn, _ error) {
	c := conn.Context().(*session)
	s.mu.Lock()
	delete(s.sessions, c.id)
	s.mu.Unlock()
	if c.subs.count() > 0 {
		go c.leaveAll() // publishers may be in the way
	}
}

// handle serves one batch: the command that redcon calls it for, and all that were
// pipelined behind it.
func (s *Server) handle(conn redcon.Conn, first redcon.Command) {
	c := conn.Context().(*session)
	defer func() {
		if v := recover(); v != nil {
			// Our own bug. It ends with this connection.
			s.panics.Add(1)
			s.Log.Error("panic in a session", "client", conn.RemoteAddr(), "panic", v, "stack", string(debug.Stack()))
			c.abandon()
			conn.WriteError("ERR internal error")
			conn.Close()
		}
	}()
	c.serve(first, conn.ReadPipeline())
}

// counters of all listeners.
func (s *Server) counters() (sum Counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guards {
		c := g.counters()
		sum.Connections += c.Connections
		sum.Accepted += c.Accepted
		sum.Rejected += c.Rejected
		sum.ProtocolErrors += c.ProtocolErrors
	}
	return sum
}

// noteClamped counts and logs (at most once a second) that a lock was given max-ttl
// in place of the ttl it asked for, or did not ask for (R8).
func (s *Server) noteClamped(c *commands.Command) {
	s.clamped.Add(1)
	now := time.Now().Unix()
	if last := s.lastLog.Load(); now > last && s.lastLog.CompareAndSwap(last, now) {
		s.Log.Info("a lock without expiry, or with a longer one, was given max-ttl",
			"command", c.Name, "max-ttl", s.Locks.MaxTTL.String(), "since start", s.clamped.Load())
	}
}
