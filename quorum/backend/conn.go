package backend

import (
	"net"
	"time"
)

// maxIdleBuffer is what a quiet connection may keep of a large flush.
const maxIdleBuffer = 64 << 10

// conn lies under redigo, whose own write buffer of 4 KiB would cut a flush of many
// requests into many writes.
type conn struct {
	net.Conn
	gather bool   // Write keeps, flush sends
	buf    []byte // what was kept
}

// Write implements net.Conn for redigo.
func (c *conn) Write(p []byte) (int, error) {
	if !c.gather {
		return c.Conn.Write(p)
	}
	c.buf = append(c.buf, p...)
	return len(p), nil
}

// flush sends what was kept, in one write, and fails if that takes longer than limit.
func (c *conn) flush(limit time.Duration) error {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := c.Conn.Write(c.buf)
	if cap(c.buf) > maxIdleBuffer {
		c.buf = nil
	}
	c.buf = c.buf[:0]
	return err
}

// SetReadDeadline does nothing. Redigo sets one at every reply, and a read that times
// out is the end of a redigo connection; a round's deadline must never be that.
func (c *conn) SetReadDeadline(time.Time) error { return nil }
