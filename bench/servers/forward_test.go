package servers

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockd/bench/resp"
)

func forward(t *testing.T, target string) *Forward {
	t.Helper()
	f, err := StartForward(target)
	check(t, err)
	t.Cleanup(func() { check(t, f.Close()) })
	return f
}

// whoAt is what the server at an address answers: the value of key "name", or "" when there is none that answers.
func whoAt(addr string) string {
	reply, err := resp.Do(addr, 5*time.Second, "GET", "name")
	if err != nil {
		return ""
	}
	return reply.Text
}

// named is a server that says who it is.
func named(t *testing.T, name string, args ...string) *Redis {
	t.Helper()
	r := start(t, args...)
	_, err := r.Do("SET", "name", name)
	check(t, err)
	return r
}

func wantWho(t *testing.T, f *Forward, want string) {
	t.Helper()
	if got := whoAt(f.Addr()); got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// kept is one connection that stays open.
type kept struct {
	net.Conn
	in *bufio.Reader
}

func keep(t *testing.T, addr string) kept {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	check(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	k := kept{conn, bufio.NewReader(conn)}
	if reply, err := k.ask("PING"); err != nil || reply.Text != "PONG" {
		t.Fatalf("%v, %v", reply, err)
	}
	return k
}

func (k kept) ask(args ...string) (resp.Reply, error) {
	if _, err := k.Write(resp.AppendCommand(nil, args...)); err != nil {
		return resp.Reply{}, err
	}
	return resp.Read(k.in)
}

func (k kept) wantCut(t *testing.T) {
	t.Helper()
	if reply, err := k.ask("PING"); err == nil || errors.Is(err, net.ErrClosed) {
		t.Fatalf("a cut connection: %v, %v", reply, err)
	}
}

func TestForwardPoint(t *testing.T) {
	a, b := named(t, "a"), named(t, "b")
	f := forward(t, a.Addr)
	wantWho(t, f, "a")
	k := keep(t, f.Addr())
	f.Point(b.Addr)
	k.wantCut(t)
	wantWho(t, f, "b")
	f.Mend() // nothing is cut
	wantWho(t, f, "b")
	f.Point(a.Addr)
	wantWho(t, f, "a")
}

func TestForwardCut(t *testing.T) {
	a, b := named(t, "a"), named(t, "b")
	f := forward(t, a.Addr)
	k := keep(t, f.Addr())
	f.Cut()
	f.Cut()
	k.wantCut(t)
	wantWho(t, f, "")
	f.Mend()
	wantWho(t, f, "a")
	f.Cut()
	f.Point(b.Addr)
	wantWho(t, f, "b")
}

// The ends of the servers behind it are seen in front of it.
func TestForwardToTheDead(t *testing.T) {
	a := named(t, "a")
	f := forward(t, a.Addr)
	k := keep(t, f.Addr())
	check(t, a.Kill())
	k.wantCut(t)
	wantWho(t, f, "")
	check(t, a.Restart())
	k = keep(t, f.Addr())
	check(t, k.Conn.(*net.TCPConn).CloseWrite())
	if _, err := k.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Fatalf("after a half-close: %v", err)
	}
}

func TestForwardClose(t *testing.T) {
	f := forward(t, named(t, "a").Addr)
	k := keep(t, f.Addr())
	check(t, f.Close())
	check(t, f.Close())
	k.wantCut(t)
	f.Mend()
	f.Point("127.0.0.1:1")
	if _, err := net.Dial("tcp", f.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("a closed forwarder: %v", err)
	}
}

// An address changes hands while many ask. Whoever is answered is answered by the server that the address led to
// meanwhile, and after Point has returned by no other.
func TestForwardPointUnderLoad(t *testing.T) {
	both := []*Redis{named(t, "a"), named(t, "b")}
	f := forward(t, both[0].Addr)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					whoAt(f.Addr())
				}
			}
		})
	}
	for i := range 50 {
		f.Point(both[i%2].Addr)
		wantWho(t, f, []string{"a", "b"}[i%2])
	}
	close(stop)
	wait.Wait()
}

// A replica that is promoted behind the same address has what had reached it, and no more: its link to the master is a
// forwarder, too, and was cut.
func TestForwardToPromoted(t *testing.T) {
	master := named(t, "before", "--repl-diskless-sync-delay", "0")
	link := forward(t, master.Addr)
	host, port, err := net.SplitHostPort(link.Addr())
	check(t, err)
	replica := start(t, "--replicaof", host+" "+port)
	f := forward(t, master.Addr)
	wantWho(t, f, "before")
	for end := time.Now().Add(30 * time.Second); whoAt(replica.Addr) != "before"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the replica never had it:\n%s", replica.Log())
		}
	}
	link.Cut()
	reply, err := resp.Do(f.Addr(), 5*time.Second, "SET", "name", "late")
	if check(t, err); reply.Text != "OK" {
		t.Fatal(reply)
	}
	check(t, master.Kill())
	_, err = replica.Do("REPLICAOF", "NO", "ONE")
	check(t, err)
	f.Point(replica.Addr)
	wantWho(t, f, "before")
	reply, err = resp.Do(f.Addr(), 5*time.Second, "SET", "name", "after")
	if check(t, err); reply.Text != "OK" {
		t.Fatal(reply)
	}
	wantWho(t, f, "after")
}
