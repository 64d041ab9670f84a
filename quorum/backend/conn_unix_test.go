//go:build unix

package backend

import (
	"net"
	"testing"
	"time"
)

// A connection on which a write has once had to wait is written to without waiting again, also when the time for that write is over.
func TestTryAfterFlush(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	socket, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	const limit = 100 * ms
	c := newConn(socket)
	c.buf = append(c.buf, "one"...)
	if err := c.flush(limit); err != nil {
		t.Fatal(err)
	}
	time.Sleep(limit + 10*ms)
	c.buf = append(c.buf, "two"...)
	if !c.try() {
		t.Fatal("left to the link's own writer")
	}
}
