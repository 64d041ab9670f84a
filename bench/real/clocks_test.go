package real

// R24 over real processes: a node's clock jumps, stands still or runs too fast, or redlockd itself stands still.

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// saysWhy waits until REDLOCK NODES says why the node is not vouched for.
func (s *scene) saysWhy(node int, why string) {
	s.Helper()
	s.eventually("REDLOCK NODES says "+why, func() bool {
		return s.fact(s.proxy, node, "vouched") == "no" && strings.Contains(s.fact(s.proxy, node, "vouched_why"), why)
	})
}

// Forward, the node's locks expire too early. Back, they do no harm, but that is not known.
func TestR24RealClockJumps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		n       int
		by      time.Duration
		unseen  bool // by the redlockd of then; another one comes later
		proxies int
		why     string
	}{
		{"forward", 3, life + time.Minute, false, 1, "its clock jumped, it gained "},
		{"forward, of five", 5, life + time.Minute, false, 2, "not vouched for"},
		{"back", 3, -time.Hour, false, 1, "its clock jumped, it lost "},
		{"forward, unseen", 3, life + time.Minute, true, 1, "by wall clocks"},
		{"back, unseen", 5, -10 * time.Second, true, 1, "by wall clocks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := stage(t, cast{n: c.n, proxies: c.proxies, clocks: true})
			s.take()
			before, last := s.marks(), s.last()
			if c.unseen {
				s.must(s.proxy.Kill())
				s.proxies = nil
			}
			s.must(s.nodes[last].SetClock(c.by))
			if c.unseen {
				if c.by > life && s.at(last, "GET", key) != nil {
					t.Fatal("it has not expired")
				}
				s.proxy = s.start()
				s.rival(s.proxy)
			}
			s.saysWhy(last, c.why)
			s.vouchedAnew(before, last)
			s.ends(last)
		})
	}
}

// A clock that runs wrong all the time: the node has no vote, and the others go on, until it runs right.
func TestR24RealClockRunsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rate float64 // 0 is frozen
		why  string
	}{
		{"frozen", 0, "its clock jumped, it lost "},
		{"fast", 1.02, "its clock jumped, it gained "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := stage(t, cast{n: 3, clocks: true})
			s.take()
			before, last := s.marks(), s.last()
			if c.rate == 0 {
				s.must(s.nodes[last].FreezeClock())
			} else {
				s.must(s.nodes[last].RunClock(c.rate))
			}
			s.saysWhy(last, c.why)
			s.eventually("its mark is deleted", func() bool { return s.mark(last) == "" })
			crowd := s.crowd(4, 2, 3*time.Second)
			s.eventually("the others grant locks", func() bool { return crowd.told.count() > 3 })
			time.Sleep(1200 * ms) // longer than a lesson would take
			if mark := s.mark(last); mark != "" {
				t.Errorf("it is vouched for: %s", mark)
			}
			crowd.leave()
			crowd.told.check(t, 4)
			s.must(s.nodes[last].RunClock(1))
			s.vouchedAnew(before, last)
			s.ends(last)
		})
	}
}

// A clock that jumps to and fro, under load: no lock has two holders.
func TestR24RealClockJumpsInACrowd(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 3, proxies: 2, clocks: true})
	crowd := s.crowd(12, 6, 10*time.Second)
	for _, ahead := range []time.Duration{10 * time.Second, 0, 20 * time.Second, 2 * time.Second} {
		before := s.marks()
		s.must(s.nodes[s.last()].SetClock(ahead))
		s.vouchedAnew(before, s.last())
		time.Sleep(time.Second) // the node's word counts
	}
	crowd.leave()
	crowd.told.check(t, 10)
}

// A redlockd that stands still for longer than a ttl grants nothing that has lapsed, and takes back nothing that somebody else
// has meanwhile. It does not blame the nodes' clocks for it.
func TestR24RealRedlockdStandsStill(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 3, proxies: 2})
	const keys, ttl = 20, time.Second
	before := s.marks()
	first, second := s.client(s.proxies[0].Addr), s.client(s.proxies[1].Addr)
	_, err := first.Do("PING")
	s.must(err)
	for _, node := range s.nodes {
		s.must(node.Pause())
	}
	asked := time.Now()
	for i := range keys {
		s.must(first.Send("SET", fmt.Sprintf("lock%d", i), "t1", "NX", "PX", ttl.Milliseconds()))
	}
	s.must(first.Flush())
	told := make(chan error, 1)
	go func() {
		for i := range keys {
			r, err := first.Receive()
			if err == nil && r != nil && time.Since(asked) > ttl {
				told <- fmt.Errorf("lock%d is granted after %v", i, time.Since(asked))
				return
			}
		}
		told <- nil
	}()
	time.Sleep(100 * ms) // they are on their way to the nodes
	s.must(s.proxies[0].Signal(syscall.SIGSTOP))
	s.eventually("it has stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.proxies[0].Pid()))
		return err != nil || strings.Contains(string(stat), ") T ")
	})
	time.Sleep(50 * ms) // all threads of it
	for _, node := range s.nodes {
		s.must(node.Resume())
	}
	taken := 0
	for i := range s.nodes {
		if s.at(i, "GET", "lock0") == "t1" {
			taken++
		}
	}
	for i := range keys {
		s.eventually("the lock has lapsed", func() bool {
			r, err := redis.String(second.Do("SET", fmt.Sprintf("lock%d", i), "t2", "NX", "PX", life.Milliseconds()))
			return err == nil && r == "OK"
		})
	}
	time.Sleep(2 * ttl)
	// Perhaps not on the node where the first lock lapsed last: it may have said no.
	held := make([]int, keys)
	for i := range held {
		held[i] = s.holders(fmt.Sprintf("lock%d", i), "t2")
		if held[i] < quorum.Majority(len(s.nodes)) {
			t.Fatalf("lock%d is on %d nodes", i, held[i])
		}
	}
	s.must(s.proxies[0].Signal(syscall.SIGCONT))
	if err := <-told; err != nil {
		t.Error(err)
	}
	s.allVouched()
	s.counts(first)
	for i := range keys {
		s.wantHolders(fmt.Sprintf("lock%d", i), "t2", held[i])
	}
	for i, mark := range s.marks() {
		if mark == "" || quorum.VouchOf(mark) != quorum.VouchOf(before[i]) {
			t.Errorf("node %d was vouched for by %s, now by %q\n%s", i, before[i], mark, s.proxyLog())
		}
	}
	if taken < 2 {
		t.Errorf("only %d nodes were asked before redlockd stood still", taken)
	}
}

// counts says that this client's redlockd counts votes.
func (s *scene) counts(c redis.Conn) {
	s.Helper()
	s.eventually("a lock is granted", func() bool {
		r, err := redis.String(c.Do("SET", "another", "t", "NX", "PX", 1000))
		return err == nil && r == "OK"
	})
}
