package real

// Real processes that are killed, stopped, and lied to.

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// One, two, three nodes killed; and back again.
func TestR3RealNodesKilled(t *testing.T) {
	f := real(t, 5)
	c := f.client(f.proxy.Addr)
	for killed := range 3 {
		key := fmt.Sprintf("lock%d", killed)
		if r, err := redis.String(c.Do("SET", key, "t", "NX", "PX", 60000)); err != nil || r != "OK" {
			t.Fatalf("with %d nodes killed: %v %v", killed, r, err)
		}
		if r, err := redis.Int(c.Do("EVAL", compareAndDelete, 1, key, "t")); err != nil || r != 1 {
			t.Fatalf("release with %d nodes killed: %v %v", killed, r, err)
		}
		if err := f.nodes[killed].Kill(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Do("SET", "lock3", "t", "NX", "PX", 60000)
	if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM 2 yes, 0 no, 3 unknown") && !strings.Contains(err.Error(), "3 unknown") {
		t.Fatalf("with three nodes killed: %v", err)
	}
	for _, node := range f.nodes[:3] {
		if !strings.Contains(err.Error(), node.Addr) {
			t.Errorf("%s is not named: %v", node.Addr, err)
		}
	}
	f.wantHolders("lock3", "t", 0)
	// Too few are left to teach it (P10): the operator knows that nothing is lost.
	if err := f.nodes[0].Restart(); err != nil {
		t.Fatal(err)
	}
	f.eventually("admitted", func() bool {
		r, err := redis.String(c.Do("REDLOCK", "ADMIT", f.nodes[0].Addr))
		return err == nil && r == "OK"
	})
	f.eventually("granted again", func() bool {
		r, err := redis.String(c.Do("SET", "lock4", "t", "NX", "PX", 60000))
		return err == nil && r == "OK"
	})
}

// A stopped node costs no grant and no release (that it costs no time is shown in virtual time), and what it accepts late is taken back: also
// when it was stopped for so long that its connection was given up.
func TestR12RealNodeStopped(t *testing.T) {
	for _, stopped := range []time.Duration{300 * ms, 3 * time.Second} {
		t.Run(stopped.String(), func(t *testing.T) {
			f := real(t, 5, "--node-timeout", "200ms", "--node-silence", "1s")
			c := f.client(f.proxy.Addr)
			for _, node := range f.nodes[:3] {
				n := f.client(node.Addr)
				if _, err := n.Do("SET", "held", "holder", "PX", 600000); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.nodes[4].Pause(); err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				key := fmt.Sprintf("lock%d", i)
				if r, err := redis.String(c.Do("SET", key, "t", "NX", "PX", 600000)); err != nil || r != "OK" {
					t.Fatalf("%v %v", r, err)
				}
				if r, err := redis.Int(c.Do("EVAL", compareAndDelete, 1, key, "t")); err != nil || r != 1 {
					t.Fatalf("release: %v %v", r, err)
				}
				if r, err := c.Do("SET", "held", "late", "NX", "PX", 600000); err != nil || r != nil {
					t.Fatalf("held: %v %v", r, err)
				}
			}
			time.Sleep(stopped)
			if err := f.nodes[4].Resume(); err != nil {
				t.Fatal(err)
			}
			f.waitUp(5)
			n := f.client(f.nodes[4].Addr)
			f.eventually("no lock is left on the node", func() bool {
				size, err := redis.Int(n.Do("DBSIZE"))
				return err == nil && size == 1 // its mark
			})
			f.wantHolders("held", "holder", 3)
		})
	}
}

// Clients of two redlockd fight for one key while nodes are stopped and killed: never two holders.
func TestR1RealTwoProxiesOneKey(t *testing.T) {
	f := real(t, 5)
	second := f.redlockd()
	var holders, most, granted atomic.Int64
	end := time.Now().Add(6 * time.Second)
	var wait sync.WaitGroup
	for i := range 12 {
		address := []string{f.proxy.Addr, second.Addr}[i%2]
		c := f.client(address)
		wait.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				token := fmt.Sprintf("%d-%d", i, n)
				// The ttl is longer than the test: only a release ends a lock.
				r, err := redis.String(c.Do("SET", "fought", token, "NX", "PX", 600000))
				if err != nil || r != "OK" {
					time.Sleep(2 * ms)
					continue
				}
				granted.Add(1)
				now := holders.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				time.Sleep(ms)
				holders.Add(-1)
				for {
					// An error means that it is not known; released it must be.
					if _, err := redis.Int(c.Do("EVAL", compareAndDelete, 1, "fought", token)); err == nil {
						break
					}
					time.Sleep(20 * ms)
				}
			}
		})
	}
	for i := 0; time.Now().Before(end); i++ {
		node := f.nodes[i%2]
		node.Pause()
		time.Sleep(150 * ms)
		node.Resume()
		time.Sleep(150 * ms)
	}
	wait.Wait()
	if most.Load() != 1 || granted.Load() < 50 {
		t.Fatalf("%d holders at once, %d grants", most.Load(), granted.Load())
	}
}

// What kills or stalls a bare redcon, from raw sockets, while another client works on.
func TestRealHostileInput(t *testing.T) {
	f := real(t, 3)
	c := f.client(f.proxy.Addr)
	for _, hostile := range []string{
		"*1\r\n$9223372036854775807\r\n", "*9223372036854775807\r\n", "*1\r\n$-2\r\n", "*1\r\n$536870913\r\n",
		strings.Repeat("a ", 40<<10) + "\r\n", strings.Repeat("x", 1<<20), "*3\r\n$3\r\nSET\r\n+OK\r\n", "\"unbalanced\r\n",
		"*1\r\n*1\r\n", "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "*" + strings.Repeat("1", 1000),
	} {
		conn, err := net.Dial("tcp", f.proxy.Addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		conn.Write([]byte(hostile))
		answer, _ := io.ReadAll(conn)
		if !strings.HasPrefix(hostile, "POST") && !strings.HasPrefix(string(answer), "-ERR Protocol error") {
			t.Errorf("%.40q: %q", hostile, answer)
		}
		conn.Close()
		if r, err := redis.String(c.Do("PING")); err != nil || r != "PONG" {
			t.Fatalf("another client, after %.40q: %v %v", hostile, r, err)
		}
	}
	half, err := net.Dial("tcp", f.proxy.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	for _, b := range []byte("*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nt\r\n$2\r\nNX\r\n$2\r\nE") {
		half.Write([]byte{b})
	}
	if r, err := redis.String(c.Do("PING")); err != nil || r != "PONG" {
		t.Fatal(r, err)
	}
}

// A client that hangs up before it could be told of its grant: the lock is taken back. One that only
// says that it will send no more, and waits for the answer, has its lock.
func TestRealClientGone(t *testing.T) {
	f := real(t, 3, "--node-timeout", "2s", "--round-limit", "5s")
	ask := func(key string, hangUp func(*net.TCPConn)) string {
		t.Helper()
		conn, err := net.Dial("tcp", f.proxy.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, node := range f.nodes {
			node.Pause()
		}
		fmt.Fprintf(conn, "SET %s t NX PX 600000\r\n", key)
		time.Sleep(50 * ms)
		hangUp(conn.(*net.TCPConn))
		time.Sleep(50 * ms)
		for _, node := range f.nodes {
			node.Resume()
		}
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		answer, _ := io.ReadAll(conn)
		return string(answer)
	}
	if got := ask("kept", func(c *net.TCPConn) { c.CloseWrite() }); got != "+OK\r\n" {
		t.Fatalf("half-closed: %q", got)
	}
	ask("gone", func(c *net.TCPConn) { c.Close() })
	ask("reset", func(c *net.TCPConn) { c.SetLinger(0); c.Close() })
	f.eventually("granted, then taken back", func() bool {
		info := f.cli(f.proxy.Addr, "INFO", "redlock")
		return strings.Contains(info, "rounds_granted:3\r") && f.holders("gone", "t")+f.holders("reset", "t") == 0
	})
	f.wantHolders("kept", "t", 3)
}

// SIGTERM: what is in flight is answered, idle clients are closed, exit 0.
func TestRealSIGTERM(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		f := real(t, 3, "--node-timeout", "1s", "--round-limit", "2s")
		idle := f.client(f.proxy.Addr)
		if _, err := idle.Do("PING"); err != nil {
			t.Fatal(err)
		}
		busy := f.client(f.proxy.Addr)
		for _, node := range f.nodes {
			node.Pause()
		}
		answered := make(chan error, 1)
		go func() {
			_, err := busy.Do("SET", "lock", "t", "NX", "PX", 60000)
			answered <- err
		}()
		time.Sleep(100 * ms)
		if err := f.proxy.Signal(sig); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * ms)
		for _, node := range f.nodes {
			node.Resume()
		}
		if err := <-answered; err != nil {
			t.Errorf("%v: in flight: %v", sig, err)
		}
		if code, err := f.proxy.Wait(20 * time.Second); err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v\n%s", sig, code, err, f.proxy.Log())
		}
		if _, err := idle.Do("PING"); err == nil {
			t.Errorf("%v: an idle client is still answered", sig)
		}
	}
}
