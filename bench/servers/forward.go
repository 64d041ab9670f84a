package servers

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// forwardDial is how long a target may take to be connected to. It only matters for one whose backlog is full.
const forwardDial = 5 * time.Second

// Forward is an address that can lead to another server: what DNS, a virtual IP or a proxy before a promoted replica
// does. All methods may be called from anywhere.
type Forward struct {
	listener net.Listener
	serving  sync.WaitGroup
	delay    atomic.Int64 // nanoseconds by which answers are late

	mu     sync.Mutex
	target string
	closed bool
	// Invariant: every connection in conns belongs to the present way; cancelling a way and emptying conns is one step.
	way   context.Context // ended: refuse
	end   context.CancelFunc
	conns map[net.Conn]struct{}
}

// StartForward listens on a free port of 127.0.0.1, and leads to target.
func StartForward(target string) (*Forward, error) {
	var last error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen("tcp", address(port))
		if err != nil {
			last = err
			continue
		}
		f := &Forward{listener: listener, conns: map[net.Conn]struct{}{}}
		f.lead(target)
		f.serving.Go(f.serve)
		return f, nil
	}
	return nil, last
}

// Addr is the address to give to clients. It never changes.
func (f *Forward) Addr() string { return f.listener.Addr().String() }

// Point lets the address lead to another server. All connections are cut: nothing that was sent over them reaches the
// old target any more once Point returns, except what its kernel already has. It also mends a Cut.
func (f *Forward) Point(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut()
	f.lead(target)
}

// Cut drops all connections and resets each new one at once, until Point or Mend. (They are accepted first: if we
// stopped to listen, another program could take the port.)
func (f *Forward) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut()
}

// Mend ends a Cut: the address leads to where it led before. Without a Cut it does nothing.
func (f *Forward) Mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.way.Err() != nil {
		f.lead(f.target)
	}
}

// Delay makes what the server answers from now on arrive later by d, also on the connections that are there: a slow node, or
// a long way to it. Requests are not delayed.
func (f *Forward) Delay(d time.Duration) { f.delay.Store(int64(d)) }

// Close cuts everything, frees the port, and waits until all is gone. It may be called again.
func (f *Forward) Close() error {
	f.mu.Lock()
	f.closed = true
	f.cut()
	f.mu.Unlock()
	err := f.listener.Close()
	f.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// lead opens a new way. The caller holds mu, except at the start. A closed forwarder stays cut.
func (f *Forward) lead(target string) {
	f.target = target
	f.way, f.end = context.WithCancel(context.Background())
	if f.closed {
		f.end()
	}
}

// cut ends the present way and everything on it. The caller holds mu.
func (f *Forward) cut() {
	f.end()
	for conn := range f.conns {
		reset(conn)
	}
	clear(f.conns)
}

// reset closes a connection and throws away what was not sent yet, as when a cable is pulled.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func (f *Forward) serve() {
	for {
		client, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or a client that was gone at once
			time.Sleep(retryPause)
			continue
		}
		f.serving.Go(func() { f.carry(client) })
	}
}

// carry is one connection's whole life.
func (f *Forward) carry(client net.Conn) {
	f.mu.Lock()
	way, target := f.way, f.target
	f.mu.Unlock()
	dialer := net.Dialer{Timeout: forwardDial}
	server, err := dialer.DialContext(way, "tcp", target)
	if err != nil {
		reset(client)
		return
	}
	if !f.add(way, client, server) {
		reset(client)
		reset(server)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(server, client) })
	both.Go(func() { f.passLate(client, server) })
	both.Wait()
	f.mu.Lock()
	delete(f.conns, client)
	delete(f.conns, server)
	f.mu.Unlock()
	client.Close()
	server.Close()
}

// add refuses when the way was cut while we dialled.
func (f *Forward) add(way context.Context, conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if way.Err() != nil {
		return false
	}
	for _, conn := range conns {
		f.conns[conn] = struct{}{}
	}
	return true
}

// pass carries one direction. A half-close is passed on as one, a reset as one.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		reset(to)
		reset(from)
		return
	}
	_ = to.(*net.TCPConn).CloseWrite()
}
