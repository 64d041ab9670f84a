package real

// R21 over real processes: what goes wrong while a node is taught what it forgot.

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/bench/servers"
	"redlockd/quorum"
)

// many locks take a second or more to copy.
const many = 12_000

// midway waits until the node has got some of the locks, and not all.
func (s *scene) midway(c int) {
	s.Helper()
	s.eventually("it is being taught", func() bool {
		mark, _ := s.try(c, "GET", quorum.MarkKey)
		size, _ := s.try(c, "DBSIZE")
		text, _ := mark.(string)
		n, _ := size.(int64)
		if n > many*9/10 {
			s.Fatalf("the copy is over: %d locks, %v", n, mark)
		}
		return strings.HasPrefix(text, "teaching:") && n > many/20
	})
}

// teacher of the node.
func (s *scene) teacher(c int) (t *servers.Proxy) {
	s.Helper()
	s.eventually("somebody teaches it", func() bool {
		for _, p := range s.proxies {
			if said := s.fact(p, c, "teaching"); strings.Contains(said, "in flight") || strings.Contains(said, "copying") {
				t = p
			}
		}
		return t != nil
	})
	return t
}

// fact of REDLOCK NODES about a node.
func (s *scene) fact(p *servers.Proxy, node int, name string) string {
	s.Helper()
	all, err := redis.Values(s.client(p.Addr).Do("REDLOCK", "NODES"))
	s.must(err)
	facts, err := redis.Values(all[node], nil)
	s.must(err)
	for i := 0; i < len(facts); i += 2 {
		if said, _ := redis.String(facts[i], nil); said == name {
			if n, ok := facts[i+1].(int64); ok {
				return fmt.Sprint(n)
			}
			said, _ = redis.String(facts[i+1], nil)
			return said
		}
	}
	s.Fatalf("REDLOCK NODES has no %s", name)
	return ""
}

func TestR21RealMidway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		n         int
		proxies   int
		disturb   func(s *scene, c int)
		forgetful []int // besides the last holder
	}{
		{"flushed", 5, 1, func(s *scene, c int) {
			s.eventually("it has learnt the lock", func() bool { return s.at(c, "GET", key) != nil })
			s.must(s.nodes[c].Flush())
		}, nil},
		{"restarted", 3, 2, restart, nil},
		// One of those that teach it dies, and comes back empty.
		{"a source is lost", 5, 1, func(s *scene, c int) { restart(s, s.first()) }, []int{2}},
		{"a source hangs", 5, 1, func(s *scene, c int) {
			s.must(s.nodes[2].Pause())
			time.Sleep(1500 * ms)
			s.must(s.nodes[2].Resume())
		}, nil},
		{"its teacher is killed", 3, 2, func(s *scene, c int) {
			t := s.teacher(c)
			s.must(t.Kill())
			for i, p := range s.proxies {
				if p != t {
					s.proxies, s.proxy = s.proxies[i:i+1], p
					break
				}
			}
		}, nil},
		// A teacher that hangs is taken for gone, and goes on when another has taken its place.
		{"two teach it", 3, 2, func(s *scene, c int) {
			t := s.teacher(c)
			before := s.at(c, "GET", quorum.MarkKey)
			s.must(t.Signal(syscall.SIGSTOP))
			s.eventually("another takes over", func() bool { return s.at(c, "GET", quorum.MarkKey) != before })
			s.must(t.Signal(syscall.SIGCONT))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := stage(t, cast{n: c.n, proxies: c.proxies, locks: many})
			s.take()
			before, last := s.marks(), s.last()
			restart(s, last)
			s.midway(last)
			c.disturb(s, last)
			s.vouchedAnew(before, append(c.forgetful, last)...)
			s.ends(append(c.forgetful, last)...)
		})
	}
}
