package proxy

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/redcon"
)

// served is a redcon server on a guard. PING answers PONG, anything else its arguments.
type served struct {
	guard  *guard
	done   chan struct{} // Serve has returned
	closed chan error    // what redcon's closed callback got
	dial   func() net.Conn
}

func serveOn(tb testing.TB, ln net.Listener, limits Limits, setup func(*guardedConn)) *served {
	s := &served{done: make(chan struct{}), closed: make(chan error, 1000)}
	s.guard = newGuard(ln, limits, slog.New(slog.DiscardHandler))
	server := redcon.NewServer("", repeatArguments,
		func(conn redcon.Conn) bool {
			if setup != nil {
				setup(conn.NetConn().(*guardedConn))
			}
			return true
		},
		func(_ redcon.Conn, err error) { s.closed <- err })
	go func() {
		defer close(s.done)
		if err := server.Serve(s.guard); err != nil {
			tb.Errorf("Serve: %v", err)
		}
	}()
	tb.Cleanup(func() {
		s.guard.stop()
		<-s.done
	})
	return s
}

func repeatArguments(conn redcon.Conn, cmd redcon.Command) {
	if strings.EqualFold(string(cmd.Args[0]), "ping") {
		conn.WriteString("PONG")
		return
	}
	conn.WriteArray(len(cmd.Args))
	for _, a := range cmd.Args {
		conn.WriteBulk(a)
	}
}

func serveTCP(tb testing.TB, limits Limits, setup func(*guardedConn)) *served {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := serveOn(tb, ln, limits, setup)
	s.dial = func() net.Conn {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { conn.Close() })
		// Generous: only a hung test gets here.
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		return conn
	}
	return s
}

// servePipes is for a synctest bubble.
func servePipes(tb testing.TB, limits Limits, setup func(*guardedConn)) *served {
	ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := serveOn(tb, ln, limits, setup)
	s.dial = func() net.Conn { return ln.dial(tb) }
	return s
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	fail   atomic.Int32 // accepts that still fail
	asked  atomic.Int32
}

func (l *pipeListener) dial(tb testing.TB) net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	tb.Cleanup(func() { client.Close() })
	return client
}

func (l *pipeListener) Accept() (net.Conn, error) {
	l.asked.Add(1)
	if l.fail.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func send(tb testing.TB, c net.Conn, text string) {
	tb.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		tb.Errorf("write: %v", err)
	}
}

func expect(tb testing.TB, c net.Conn, want string) {
	tb.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c, got)
	if string(got[:n]) != want {
		tb.Errorf("got %q, %v, want %q", got[:n], err, want)
	}
}

// expectEnd: nothing more comes, and the connection is closed.
func expectEnd(tb testing.TB, c net.Conn) {
	tb.Helper()
	rest, err := io.ReadAll(c)
	if len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		tb.Errorf("got %q, %v, want the end", rest, err)
	}
}

func TestIdleAndCommandTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := servePipes(t, Limits{Idle: 60 * time.Second, Command: 5 * time.Second}, nil)
		idle := s.dial()
		send(t, idle, "PING\r\n")
		expect(t, idle, "+PONG\r\n")
		time.Sleep(59 * time.Second)
		send(t, idle, "PING\r\n") // just in time
		expect(t, idle, "+PONG\r\n")
		expectEnd(t, idle)
		if got := time.Since(start); got != 119*time.Second {
			t.Errorf("idle client closed after %v", got)
		}
		if err := <-s.closed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("closed with %v", err)
		}

		trickling := s.dial()
		start = time.Now()
		for _, c := range resp("PING")[:5] {
			send(t, trickling, string(c))
			time.Sleep(900 * time.Millisecond)
		}
		expectEnd(t, trickling)
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("trickling client closed after %v", got)
		}
	})
}

// Time that we spend on a command is not charged to the client that has already begun its next one.
func TestCommandTimeIsTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{Command: 5 * time.Second}, func(c *guardedConn) {
			c.onWrite = func(error) { time.Sleep(time.Minute) }
		})
		c := s.dial()
		send(t, c, "PING\r\nPI")
		expect(t, c, "+PONG\r\n")
		time.Sleep(time.Minute + 4*time.Second)
		send(t, c, "NG\r\n")
		expect(t, c, "+PONG\r\n")
		time.Sleep(2 * time.Minute)
	})
}

func TestNoIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{}, nil)
		c := s.dial()
		time.Sleep(1000 * time.Hour)
		send(t, c, "PING\r\n")
		expect(t, c, "+PONG\r\n")
	})
}

func TestClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []error
		s := servePipes(t, Limits{Write: 7 * time.Second}, func(c *guardedConn) {
			c.onWrite = func(err error) { told = append(told, err) }
		})
		c := s.dial()
		start := time.Now()
		send(t, c, "PING\r\n")
		if err := <-s.closed; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 7*time.Second {
			t.Errorf("closed with %v after %v", err, time.Since(start))
		}
		if len(told) != 1 || !errors.Is(told[0], os.ErrDeadlineExceeded) {
			t.Errorf("onWrite was told %v", told)
		}
		if n := s.guard.counters().Connections; n != 0 {
			t.Errorf("%d connections left", n)
		}

		reading := s.dial()
		send(t, reading, "PING\r\n")
		expect(t, reading, "+P") // then no more
		<-s.closed
		var partial *partialWriteError
		if len(told) != 2 || !errors.As(told[1], &partial) || partial.taken != 2 || partial.of != 7 {
			t.Errorf("onWrite was told %v", told)
		}
	})
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{Command: 5 * time.Second, Idle: time.Hour}, nil)
		idle, half, stuck := s.dial(), s.dial(), s.dial()
		send(t, idle, "PING\r\n")
		expect(t, idle, "+PONG\r\n")
		send(t, half, "PI")
		send(t, stuck, "PI")
		synctest.Wait()

		s.guard.drain()
		s.guard.drain()
		start := time.Now()
		expectEnd(t, idle)
		if !time.Now().Equal(start) {
			t.Error("an idle client waited for the end")
		}
		time.Sleep(4 * time.Second)
		send(t, half, "NG\r\n")
		expect(t, half, "+PONG\r\n")
		expectEnd(t, half)
		select {
		case <-s.guard.drained():
			t.Error("drained with a client left")
		case <-s.done:
			t.Error("Accept returned: redcon closes all connections")
		default:
		}
		expectEnd(t, stuck)
		<-s.guard.drained()
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("drained after %v", got)
		}
		s.guard.stop()
		<-s.done
	})
}

// What has arrived whole before the drain is answered.
func TestDrainAnswersWhatArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *served
		s = servePipes(t, Limits{MaxPipeline: 1}, func(c *guardedConn) {
			c.onWrite = func(error) { s.guard.drain() }
		})
		c := s.dial()
		send(t, c, "PING\r\nPING\r\nECHO a\r\n")
		expect(t, c, "+PONG\r\n+PONG\r\n"+resp("ECHO", "a"))
		expectEnd(t, c)
		<-s.guard.drained()
	})
}

func TestStopClosesWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{}, nil)
		half := s.dial()
		send(t, half, "PI")
		s.guard.stop()
		<-s.done
		expectEnd(t, half)
		<-s.guard.drained()
	})
}

func TestMaxClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{MaxClients: 2}, nil)
		a, b := s.dial(), s.dial()
		var more []net.Conn
		for range turnAwayAtOnce + 1 {
			more = append(more, s.dial()) // none of them reads, yet each is let go
		}
		synctest.Wait()
		expectEnd(t, more[turnAwayAtOnce])
		expect(t, more[0], "-ERR max number of clients reached\r\n")
		expectEnd(t, more[0])
		want := Counters{Connections: 2, Accepted: 2, Rejected: turnAwayAtOnce + 1}
		if got := s.guard.counters(); got != want {
			t.Errorf("counters %+v, want %+v", got, want)
		}
		time.Sleep(turnAwayWithin + time.Millisecond)
		expectEnd(t, more[1])
		a.Close()
		synctest.Wait()
		next := s.dial()
		send(t, next, "PING\r\n")
		expect(t, next, "+PONG\r\n")
		send(t, b, "PING\r\n")
		expect(t, b, "+PONG\r\n")
	})
}

func TestAcceptBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ln.fail.Store(1000)
		s := serveOn(t, ln, Limits{}, nil)
		time.Sleep(time.Minute)
		if asked := ln.asked.Load(); asked < 50 || asked > 75 { // 8 doublings, then once a second
			t.Errorf("%d accepts in a minute", asked)
		}
		ln.fail.Store(0)
		c := ln.dial(t)
		send(t, c, "PING\r\n")
		expect(t, c, "+PONG\r\n")
		ln.fail.Store(1000)
		s.guard.stop() // also while it pauses
		<-s.done
	})
}

func TestCloseCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conn *guardedConn
		s := servePipes(t, Limits{}, func(c *guardedConn) { conn = c })
		client, other := s.dial(), s.dial()
		send(t, client, "PING\r\n")
		expect(t, client, "+PONG\r\n")
		send(t, other, "PING\r\n")
		expect(t, other, "+PONG\r\n")
		for range 3 {
			go conn.Close()
		}
		synctest.Wait()
		if got := s.guard.counters(); got.Connections != 1 || got.Accepted != 2 {
			t.Errorf("counters %+v", got)
		}
	})
}

// Replies to the commands before an error go out first.
func TestErrorComesAfterTheReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipes(t, Limits{}, nil)
		c := s.dial()
		send(t, c, "PING\r\nPING\r\n*1\r\n+5\r\nPING\r\n")
		all, err := io.ReadAll(bufio.NewReader(c))
		if want := "+PONG\r\n+PONG\r\n-ERR Protocol error: expected '$', got '+'\r\n"; string(all) != want || err != nil {
			t.Errorf("got %q, %v", all, err)
		}
		if err := <-s.closed; err != nil {
			t.Errorf("closed with %v", err)
		}
		if n := s.guard.counters().ProtocolErrors; n != 1 {
			t.Errorf("%d protocol errors counted", n)
		}
	})
}
