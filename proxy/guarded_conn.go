// A client's connection as redcon and the session see it.
package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// errDrained: the end is ours, not the client's.
var errDrained = errors.New("proxy: drained")

// longAgo as a deadline ends a Read at once.
var longAgo = time.Unix(1, 0)

const (
	// readPiece bounds one read of the socket. redcon's buffer is what we read into: 4 KiB, more only while it takes a big command.
	readPiece = 16 << 10

	// What redcon v1.6.2 reads into when it holds nothing: always this long, but still the front of the largest array it ever
	// needed (twice max-command). The capacity gives it away. Above keepsAbove we make it let go, see shed.
	redconBuffer = 4096
	keepsAbove   = 16 << 10
)

// guardedConn reads for one goroutine, redcon's, and writes for the same one: the fields have no lock. Only Close, send, and the
// deadlines of Conn, may be touched by others.
type guardedConn struct {
	net.Conn
	guard  *guard
	framer framer

	// Set by the session, on redcon's goroutine.
	//
	// onWrite is called after each Write: nil when the kernel took all of it, which does not mean that the client has it. A
	// *partialWriteError: the first replies may have arrived. Any other error: none of this Write has.
	onWrite func(err error)
	// onGone is called at most once, and after onWrite: the client closed before the last Write reached it. That write must have been
	// announced by awaitDelivery. Sure only for the last reply of that Write: earlier ones may have been read.
	onGone        func()
	awaitDelivery bool // about the next Write, which takes it back
	// pushed: another goroutine sends messages as well. They may come when no command has come for long; and what the
	// client did not get when it closed may have been a message, so that onGone is never called.
	pushed bool

	awaited  bool // the last Write that had bytes was announced, and the kernel took them
	finished bool
	greeted  bool // TLS handshake done, or none needed
	shedding bool

	deadline time.Time // for reading, as last set here. Others set it too: trust only expiry that our own clock confirms
	half     uint64    // the half command that halfBy is about (framer.begun)
	halfBy   time.Time

	closing sync.Once
}

var _ net.Conn = (*guardedConn)(nil)

// partialWriteError: the kernel took some of the replies and not the others.
type partialWriteError struct {
	taken, of int
	err       error
}

func (e *partialWriteError) Error() string {
	return fmt.Sprintf("wrote %d of %d bytes: %v", e.taken, e.of, e.err)
}

func (e *partialWriteError) Unwrap() error { return e.err }

// Read gives redcon whole commands. A command longer than p comes in several Reads, none of which waits for the network once the
// first has returned: so redcon never holds half a command across a wait, and its recursion, one level per Read, stays as deep
// as it doubles its buffer (7 for 256 KiB).
func (c *guardedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := c.greet(); err != nil {
		return 0, err
	}
	if n := c.shed(p); n > 0 {
		return n, nil
	}
	for {
		if n := c.framer.take(p); n > 0 {
			return n, nil
		}
		if c.framer.err != nil {
			c.refuse(c.framer.err)
			return 0, io.EOF
		}
		n, err := c.receive(p)
		if n > 0 {
			c.framer.feed(p[:n])
			continue // what came is handed over before err, which comes again
		}
		if err == errDrained {
			return 0, io.EOF
		}
		if err != nil {
			c.lookBack(err)
			return 0, err
		}
	}
}

// receive waits for bytes: between commands for Idle, within one for what is left of Command.
func (c *guardedConn) receive(p []byte) (int, error) {
	for {
		by := c.waitUntil()
		draining := c.guard.draining.Load()
		if draining || !by.Equal(c.deadline) {
			if err := c.Conn.SetReadDeadline(by); err != nil {
				return 0, err
			}
			c.deadline = by
			// Again, behind our own deadline: drain may have set its own in between, and we wiped it out.
			draining = c.guard.draining.Load()
		}
		if draining && c.framer.atBoundary() {
			return 0, errDrained
		}
		n, err := c.Conn.Read(p[:min(len(p), readPiece)])
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if !by.IsZero() && !time.Now().Before(by) {
			return 0, err
		}
		c.deadline = longAgo // drain woke us, not the client's own limit: set it again
	}
}

// waitUntil is zero for ever. The time for a command runs from when we first wait for the rest of it, so that ours, spent on the
// commands before it, is not charged to the client; what trickles in does not extend it.
func (c *guardedConn) waitUntil() time.Time {
	if c.framer.atBoundary() {
		if c.guard.limits.Idle == 0 || c.pushed {
			return time.Time{}
		}
		return time.Now().Add(c.guard.limits.Idle)
	}
	if c.half != c.framer.begun {
		c.half = c.framer.begun
		c.halfBy = time.Now().Add(c.guard.limits.Command)
	}
	return c.halfBy
}

// greet does the TLS handshake, which otherwise would have no limit but Idle.
func (c *guardedConn) greet() error {
	if c.greeted {
		return nil
	}
	c.greeted = true
	tls, ok := c.Conn.(interface{ Handshake() error })
	if !ok {
		return nil
	}
	if err := c.Conn.SetDeadline(time.Now().Add(c.guard.limits.Command)); err != nil {
		return err
	}
	if err := tls.Handshake(); err != nil {
		return err
	}
	return c.Conn.SetDeadline(time.Time{})
}

// shed makes redcon drop a buffer that a big command has left it with. It must come first: only the first Read after it shows. With 4095 empty lines, which it
// skips, and a blank its buffer is full in the middle of a line, and it moves to a new one of 8 KiB. The next Read ends the
// line. A redcon that works otherwise sees blank lines, no more.
func (c *guardedConn) shed(p []byte) int {
	if c.shedding {
		c.shedding = false
		p[0] = '\n'
		return 1
	}
	if len(p) != redconBuffer || cap(p) <= keepsAbove {
		return 0
	}
	c.shedding = true
	for i := range p {
		p[i] = '\n'
	}
	p[len(p)-1] = ' '
	return len(p)
}

// refuse tells the client why it is cut off. redcon has flushed the replies to the commands before.
func (c *guardedConn) refuse(err *protocolError) {
	if c.finished {
		return
	}
	c.finished = true
	c.guard.protocolErrors.Add(1)
	c.guard.log.Debug("protocol error", "client", c.RemoteAddr(), "err", err)
	if !err.silent {
		_, _ = c.send([]byte("-ERR " + err.text + "\r\n")) // the connection ends either way
	}
}

// lookBack: after an announced Write the client is gone. Had it gone before that Write reached it? A reset without FIN does not tell: a
// client may read its reply and abort.
func (c *guardedConn) lookBack(err error) {
	ended := err == io.EOF || err == io.ErrUnexpectedEOF // the latter: FIN without TLS's own farewell
	if ended && c.awaited && !c.pushed && c.onGone != nil && refusedByPeer(c.Conn) {
		c.onGone()
	}
	c.awaited = false
}

// Write is for redcon's goroutine only. redcon flushes after every batch, also when there is nothing to flush.
func (c *guardedConn) Write(p []byte) (n int, err error) {
	announced := c.awaitDelivery
	c.awaitDelivery = false
	if len(p) > 0 {
		n, err = c.send(p)
		c.awaited = announced && err == nil // an error is told by onWrite
	}
	if c.onWrite != nil {
		told := err
		if err != nil && n > 0 {
			told = &partialWriteError{n, len(p), err}
		}
		c.onWrite(told)
	}
	return n, err
}

// send writes all of p, in one piece, within the write limit.
func (c *guardedConn) send(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.guard.limits.Write)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close may be called by anyone, any number of times. The first call counts.
func (c *guardedConn) Close() error {
	var err error
	c.closing.Do(func() {
		err = c.Conn.Close()
		c.guard.forget(c)
	})
	return err
}
