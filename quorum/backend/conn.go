package backend

import (
	"net"
	"syscall"
	"time"
)

// maxIdleBuffer is what a quiet connection may keep of a large flush.
const maxIdleBuffer = 64 << 10

// conn lies under redigo, which logs in over it and reads the replies. A link writes to it by itself.
type conn struct {
	net.Conn
	buf     words // what is to be written
	written int   // how much of it was

	// raw writes without waiting; nil where that cannot be done: over TLS, or a net.Pipe of a test.
	raw     syscall.RawConn
	attempt func(fd uintptr) bool
}

func newConn(c net.Conn) *conn {
	w := &conn{Conn: c}
	if s, ok := c.(syscall.Conn); ok && canAttempt {
		if raw, err := s.SyscallConn(); err == nil {
			w.raw = raw
			w.attempt = func(fd uintptr) bool {
				w.written = attempt(int(fd), w.buf)
				return true // not to be tried again
			}
		}
	}
	return w
}

// try to write the buffer without waiting, and say whether all of it was.
func (c *conn) try() bool {
	if c.raw == nil {
		return false
	}
	// An error is found again by flush.
	if err := c.raw.Write(c.attempt); err != nil || c.written < len(c.buf) {
		return false
	}
	c.empty()
	return true
}

// flush writes what try has not, in one piece, and fails if that takes longer than limit.
func (c *conn) flush(limit time.Duration) error {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := c.Conn.Write(c.buf[c.written:])
	c.empty()
	if err != nil {
		return err
	}
	return c.Conn.SetWriteDeadline(time.Time{}) // or try would fail once it is over
}

func (c *conn) empty() {
	if cap(c.buf) > maxIdleBuffer {
		c.buf = nil
	}
	c.buf, c.written = c.buf[:0], 0
}

// SetReadDeadline does nothing. Redigo sets one at every reply, and a read that times
// out is the end of a redigo connection; a round's deadline must never be that.
func (c *conn) SetReadDeadline(time.Time) error { return nil }
