package proxy

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const closeWait = 8 // TCP_CLOSE_WAIT of include/net/tcp_states.h

// Real sockets: what the kernel says is what is tested.
func TestGone(t *testing.T) {
	const reply = "+PONG\r\n"
	none := func(*testing.T, *net.TCPConn) {}
	halfClose := func(_ *testing.T, c *net.TCPConn) { c.CloseWrite() }
	closeIt := func(_ *testing.T, c *net.TCPConn) { c.Close() }
	readClose := func(t *testing.T, c *net.TCPConn) {
		expect(t, c, reply)
		c.Close()
	}
	readAbort := func(t *testing.T, c *net.TCPConn) {
		expect(t, c, reply)
		c.SetLinger(0)
		c.Close()
	}
	for _, tc := range []struct {
		name          string
		silent        bool                           // the reply is not announced
		before, after func(*testing.T, *net.TCPConn) // what the client does before the reply is written, and behind it
		lively        bool                           // the server reads on at once, not when the client is done
		want          bool
	}{
		{name: "closed before the reply", before: closeIt, after: none, want: true},
		{name: "closed in the middle of the next command", before: func(t *testing.T, c *net.TCPConn) {
			send(t, c, "PI")
			c.Close()
		}, after: none, want: true},
		{name: "closed before a reply of no interest", before: closeIt, after: none, silent: true},
		{name: "half-closed, read, closed", before: halfClose, after: readClose},
		{name: "half-closed, read, aborted", before: halfClose, after: readAbort},
		{name: "read, closed", after: readClose},
		{name: "read, aborted", after: readAbort},
		{name: "read, asked again, closed", lively: true, after: func(t *testing.T, c *net.TCPConn) {
			expect(t, c, reply)
			send(t, c, "PING\r\n")
			readClose(t, c)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			gone := make(chan struct{}, 2)
			asked, goOn, readOn := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
			s := serveTCP(t, Limits{}, func(c *guardedConn) {
				c.onGone = func() { gone <- struct{}{} }
				// The place of the handler: between the Read of a command and the Write of its reply.
				c.Conn = &pausedConn{Conn: c.Conn, write: func() { asked <- struct{}{}; <-goOn }}
				c.onWrite = func(error) { <-readOn }
				c.awaitDelivery = !tc.silent
			})
			client := s.dial().(*net.TCPConn)
			send(t, client, "PING\r\n")
			<-asked
			if tc.before != nil {
				tc.before(t, client)
				waitForFIN(t, s)
			}
			close(goOn)
			if tc.lively {
				close(readOn)
			}
			tc.after(t, client)
			if !tc.lively {
				close(readOn)
			}
			if err := <-s.closed; err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("closed with %v", err)
			}
			if got := len(gone); (got == 1) != tc.want || got > 1 {
				t.Errorf("onGone called %d times", got)
			}
		})
	}
}

// pausedConn is unwrapped like TLS. It calls write before each Write.
type pausedConn struct {
	net.Conn
	write func()
}

func (c *pausedConn) NetConn() net.Conn { return c.Conn }

func (c *pausedConn) Write(p []byte) (int, error) {
	c.write()
	return c.Conn.Write(p)
}

// waitForFIN returns when the only connection has been told of the client's end (TCP_INFO: CLOSE_WAIT).
func waitForFIN(t *testing.T, s *served) {
	t.Helper()
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	for c := range s.guard.conns {
		raw, err := c.Conn.(*pausedConn).Conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for state := 0; state != closeWait; {
			err := raw.Control(func(fd uintptr) { state = tcpState(t, int(fd)) })
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func tcpState(t *testing.T, fd int) int {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.State)
}
