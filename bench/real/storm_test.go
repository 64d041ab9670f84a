package real

// R21 over real processes: many clients while nodes forget, and votes that were on their way when one did.

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// long is asked for in the environment. It is taken out of there: redlockd knows all variables of that prefix.
var long = func() bool {
	const name = "REDLOCKD_TEST_LONG"
	defer os.Unsetenv(name)
	return os.Getenv(name) != ""
}()

// crowd is clients that fight for some keys, hold them for a while or too long, extend and release them.
type crowd struct {
	fleet
	told    history
	keys    int
	longest time.Duration // ttl; the shortest is a second
	over    chan struct{}
	all     sync.WaitGroup
}

func (s *scene) crowd(clients, keys int, longest time.Duration) *crowd {
	s.Helper()
	c := &crowd{fleet: s.fleet, keys: keys, longest: longest, over: make(chan struct{})}
	for i := range clients {
		conn := s.client(s.proxies[i%len(s.proxies)].Addr)
		c.all.Go(func() { c.play(fmt.Sprintf("client %d", i), conn) })
	}
	s.Cleanup(c.leave)
	return c
}

func (c *crowd) leave() {
	select {
	case <-c.over:
	default:
		close(c.over)
	}
	c.all.Wait()
}

// pause ends early when all is over.
func (c *crowd) pause(d time.Duration) (goOn bool) {
	select {
	case <-c.over:
		return false
	case <-time.After(d):
		return true
	}
}

func (c *crowd) play(name string, conn redis.Conn) {
	for n := 0; c.pause(rand.N(20 * ms)); n++ {
		key, token := fmt.Sprintf("fought%d", rand.N(c.keys)), fmt.Sprintf("%s, %d", name, n)
		ttl := time.Second + rand.N(c.longest-time.Second)
		asked := time.Now()
		if r, err := redis.String(conn.Do("SET", key, token, "NX", "PX", ttl.Milliseconds())); err != nil || r != "OK" {
			continue
		}
		c.told.granted(name, key, token, asked, ttl)
		if !c.pause(rand.N(ttl)) {
			return
		}
		for rand.N(2) > 0 {
			asked := time.Now()
			if n, err := redis.Int(conn.Do("EVAL", compareAndExpire, 1, key, token, ttl.Milliseconds())); err != nil || n != 1 {
				break
			}
			c.told.granted(name, key, token, asked, ttl)
			if !c.pause(rand.N(ttl)) {
				return
			}
		}
		if rand.N(3) > 0 { // else it has crashed
			c.told.releasing(name, key, token)
			_, _ = conn.Do("EVAL", compareAndDelete, 1, key, token) // if that fails, the lock ends by itself
		}
	}
}

// Locks are taken, extended and released while they are copied. Many outlive what two nodes of three remember.
func TestR21RealCrowd(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 3, proxies: 2, locks: many})
	crowd := s.crowd(12, 6, 10*time.Second)
	for _, i := range []int{2, 1, 0} {
		before := s.marks()
		restart(s, i)
		s.midway(i)
		s.vouchedAnew(before, i)
	}
	time.Sleep(time.Second)
	crowd.leave()
	crowd.told.check(t, 10)
}

// P10: both that have the lock forget it, and nobody is left to teach them. They wait until the longest lock has ended.
func TestR21RealTooFewTeachers(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 3, proxies: 2, life: 5 * time.Second, flags: []string{"--max-ttl", "5s"}})
	s.take()
	before := s.marks()
	restart(s, 2)
	restart(s, 1)
	s.saysWhy(1, "not vouched for")
	s.vouchedAnew(before, 1, 2)
	s.eventually("client 2 is granted it", func() bool { return s.told.count() > 1 })
	s.quiet()
	s.told.check(t, 2)
}

// A node is restarted every two seconds. No lock has two holders, and locks are granted all the time.
func TestR21RealStorm(t *testing.T) {
	t.Parallel()
	const window = 5 * time.Second
	windows := 4
	if long {
		windows = 12
	}
	s := stage(t, cast{n: 3, proxies: 2})
	began := time.Now()
	crowd := s.crowd(8, 5, 3*time.Second)
	restarts := 0
	for now := began; now.Before(began.Add(time.Duration(windows) * window)); now = time.Now() {
		time.Sleep(2 * time.Second)
		vouched := 0
		for _, mark := range s.marks() {
			if mark != "" {
				vouched++
			}
		}
		// Where the last one is not back yet, on a busy machine, another would leave too few to teach them.
		if vouched == 3 {
			restart(s, restarts%3)
			restarts++
		}
	}
	ended := time.Now()
	s.eventually("every node is vouched for", func() bool { return s.mark((restarts+2)%3) != "" })
	s.allVouched()
	if took := time.Since(ended); took > 15*time.Second {
		t.Errorf("every node is vouched for only after %v", took)
	}
	crowd.leave()
	crowd.told.check(t, 10*windows)
	granted := make([]int, windows)
	seen := map[string]bool{} // not its extends
	for _, r := range crowd.told.tenures {
		if w := int(r.told.Sub(began) / window); w < windows && !seen[r.token] {
			granted[w]++
		}
		seen[r.token] = true
	}
	for w, n := range granted {
		if n == 0 {
			t.Errorf("nothing was granted in the five seconds from %v on", time.Duration(w)*window)
		}
	}
	t.Logf("%d restarts; granted in every five seconds: %v", restarts, granted)
}

// sluice is a way to a node that can hold back what is sent over the connections that it has, and not over later ones.
type sluice struct {
	mu    sync.Mutex
	gate  chan struct{} // of the present connections, if they are held; closed to let them go on
	conns map[net.Conn]chan struct{}
}

// sluice is put before a node that redlockd is not told of yet.
func (s *scene) sluice(i int) *sluice {
	s.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	w := &sluice{conns: map[net.Conn]chan struct{}{}}
	s.Cleanup(func() { ln.Close(); w.cut() })
	target := s.nodes[i].Addr
	s.list[i] = ln.Addr().String()
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			w.put(client, nil)
			w.put(server, nil)
			go func() { _, _ = io.Copy(client, server); client.Close() }()
			go w.carry(client, server)
		}
	}()
	return w
}

func (w *sluice) put(c net.Conn, gate chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = gate
}

func (w *sluice) carry(client, server net.Conn) {
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		gate := w.conns[client]
		w.mu.Unlock()
		if gate != nil {
			<-gate
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// hold what is sent from now on.
func (w *sluice) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate = make(chan struct{})
	for c := range w.conns {
		w.conns[c] = w.gate
	}
}

// open lets it go on.
func (w *sluice) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		w.conns[c] = nil
	}
	if w.gate != nil {
		close(w.gate)
		w.gate = nil
	}
}

// cut all connections: what was held is lost.
func (w *sluice) cut() {
	w.mu.Lock()
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
	w.mu.Unlock()
	w.open()
}

// P6: a node says yes, forgets, and is taught by nodes whose own yes is still on its way.
func TestR21RealVoteOnItsWay(t *testing.T) {
	t.Parallel()
	var a, b *sluice
	s := stage(t, cast{
		n: 3, flags: []string{"--node-timeout", "900ms", "--split-retries", "0"},
		wire: func(s *scene) { a, b = s.sluice(0), s.sluice(2) },
	})
	s.Cleanup(s.quiet)
	c := s.client(s.proxy.Addr)
	var before []string
	granted := func(token string) bool {
		before = s.marks()
		a.hold()
		b.hold()
		asked := time.Now()
		s.must(c.Send("SET", key, token, "NX", "PX", life.Milliseconds()))
		s.must(c.Flush())
		for s.at(1, "GET", key) != token && time.Since(asked) < time.Second {
			time.Sleep(ms)
		}
		time.Sleep(50 * ms) // its yes is heard
		restart(s, 1)
		time.Sleep(time.Until(asked.Add(600 * ms)))
		a.open()
		r, err := redis.String(c.Receive())
		if err == nil && r == "OK" {
			s.told.granted("client 1", key, token, asked, life)
			s.until = asked.Add(life)
			return true
		}
		t.Logf("not granted: %v", err)
		b.cut()
		s.vouchedAnew(before, 1)
		return false
	}
	tries := 10 // a busy machine may take longer than a round may
	for n := 0; !granted(fmt.Sprint(n)); n++ {
		if n == tries {
			t.Fatal("never granted")
		}
	}
	// The first redlockd does not reach the last node any more. Another one does.
	s.proxies = nil
	s.proxy = s.start()
	s.rival(s.proxy)
	s.vouchedAnew(before, 1)
	s.polled()
	s.quiet()
	s.told.check(t, 1)
	if v := s.at(1, "GET", key); v == nil {
		t.Error("the node does not have the lock for which it has voted")
	}
}
