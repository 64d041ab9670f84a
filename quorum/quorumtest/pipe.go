package quorumtest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Pipe is two ends of an in-memory connection with buffers, as a socket has them: a
// write does not wait for the other end to read. net.Pipe's does, so that a hung node would block
// whoever writes to it. Usable inside a testing/synctest bubble.
func Pipe() (net.Conn, net.Conn) { return pipe() }

func pipe() (*end, *end) {
	a, b := newBuffer(), newBuffer()
	return &end{in: a, out: b}, &end{in: b, out: a}
}

// end of a pipe.
type end struct{ in, out *buffer }

// buffer is one direction.
type buffer struct {
	mu       sync.Mutex
	changed  *sync.Cond
	data     []byte
	closed   bool // by the writer: read what is left, then EOF
	broken   bool // by the reader: writes fail
	deadline time.Time
	timer    *time.Timer
}

func newBuffer() *buffer {
	b := &buffer{}
	b.changed = sync.NewCond(&b.mu)
	return b
}

func (e *end) Read(p []byte) (int, error) {
	b := e.in
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.broken:
			return 0, net.ErrClosed
		case len(b.data) > 0:
			n := copy(p, b.data)
			b.data = b.data[n:]
			return n, nil
		case b.closed:
			return 0, io.EOF
		case !b.deadline.IsZero() && !time.Now().Before(b.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		b.changed.Wait()
	}
}

func (e *end) Write(p []byte) (int, error) {
	b := e.out
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken || b.closed {
		return 0, io.ErrClosedPipe
	}
	b.data = append(b.data, p...)
	b.changed.Broadcast()
	return len(p), nil
}

// Close is seen by the other end as EOF, after what was written before.
func (e *end) Close() error {
	for _, b := range []*buffer{e.in, e.out} {
		b.mu.Lock()
		b.closed = true
		b.broken = b.broken || b == e.in
		b.changed.Broadcast()
		b.mu.Unlock()
	}
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error {
	b := e.in
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	if b.timer != nil {
		b.timer.Stop()
	}
	if !t.IsZero() {
		b.timer = time.AfterFunc(time.Until(t), func() {
			b.mu.Lock()
			b.changed.Broadcast()
			b.mu.Unlock()
		})
	}
	b.changed.Broadcast()
	return nil
}

func (e *end) SetWriteDeadline(time.Time) error { return nil }
func (e *end) SetDeadline(t time.Time) error    { return e.SetReadDeadline(t) }
func (e *end) LocalAddr() net.Addr              { return address{} }
func (e *end) RemoteAddr() net.Addr             { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "memory" }

// Listener hands out in-memory connections.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener is ready.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial a connection that Accept returns the other end of.
func (l *Listener) Dial() (net.Conn, error) {
	near, far := pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return address{} }
