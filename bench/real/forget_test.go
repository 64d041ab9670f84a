package real

// R21 over real processes: a node forgets a lock in every way that servers have, and nobody else is granted it.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/bench/servers"
	"redlockd/quorum"
)

// appendOnlyFile is where a node keeps what it has written last.
func (s *scene) appendOnlyFile(i int) string {
	s.Helper()
	dir, err := redis.Strings(s.try(i, "CONFIG", "GET", "dir"))
	s.must(err)
	found, _ := filepath.Glob(filepath.Join(dir[1], "appendonlydir", "*.incr.aof"))
	if len(found) != 1 {
		s.Fatalf("append-only files: %v", found)
	}
	return found[0]
}

// way is one of forgetting. What is to be done before client 1 takes its lock is done by forget, which returns the rest.
type way struct {
	name   string
	cast   cast
	forget func(s *scene, c int) func()
}

// now is for ways that need no preparation.
func now(forget func(s *scene, c int)) func(*scene, int) func() {
	return func(s *scene, c int) func() { return func() { forget(s, c) } }
}

func restart(s *scene, c int) { s.must(s.nodes[c].Restart()) }

var ways = []way{
	{"restarted empty", cast{n: 5}, now(restart)},
	{"restarted empty, one of three", cast{n: 3}, now(restart)},
	{"restarted empty, seen by two", cast{n: 3, proxies: 2}, now(restart)},
	{"everysec", cast{n: 5, args: []string{"--appendonly", "yes", "--appendfsync", "everysec"}}, func(s *scene, c int) func() {
		file := s.appendOnlyFile(c)
		before, err := os.Stat(file)
		s.must(err)
		return func() { // the machine loses its power before the system has written
			s.must(s.nodes[c].Kill())
			s.must(os.Truncate(file, before.Size()))
			restart(s, c)
		}
	}},
	{"always", cast{n: 3, args: []string{"--appendonly", "yes", "--appendfsync", "always"}}, now(restart)},
	{"snapshot", cast{n: 5, args: []string{"--save", "3600 1"}}, func(s *scene, c int) func() {
		s.at(c, "SAVE")
		return func() { restart(s, c) }
	}},
	// An old lock of somebody else comes back with it.
	{"snapshot with another lock", cast{n: 3, args: []string{"--save", "3600 1"}}, func(s *scene, c int) func() {
		s.at(c, "SET", key, "old", "PX", 10*time.Hour.Milliseconds())
		s.at(c, "SAVE")
		s.at(c, "DEL", key)
		return func() { restart(s, c) }
	}},
	{"disk replaced", cast{n: 3, args: []string{"--appendonly", "yes", "--appendfsync", "always"}}, now(func(s *scene, c int) {
		s.must(s.nodes[c].Remove())
		restart(s, c)
	})},
	{"another machine", cast{n: 5, forward: true}, now(func(s *scene, c int) {
		s.nodes[c] = s.node()
		s.forward.Point(s.nodes[c].Addr)
	})},
	{"replica promoted", cast{n: 3, forward: true, args: []string{"--repl-diskless-sync-delay", "0"}}, func(s *scene, c int) func() {
		replica := s.node("--replicaof", strings.Replace(s.nodes[c].Addr, ":", " ", 1))
		mark := s.at(c, "GET", quorum.MarkKey)
		s.eventually("it is replicated", func() bool { v, _ := replica.Do("GET", quorum.MarkKey); return v == mark })
		_, err := replica.Do("REPLICAOF", "NO", "ONE") // it misses what is written from now on
		s.must(err)
		return func() {
			s.nodes[c] = replica
			s.forward.Point(replica.Addr)
		}
	}},
	{"FLUSHALL", cast{n: 5}, now(func(s *scene, c int) { s.must(s.nodes[c].Flush()) })},
	{"FLUSHDB", cast{n: 3, db: 3}, now(func(s *scene, c int) { s.at(c, "FLUSHDB") })},
	{"unseen", cast{n: 3}, now(func(s *scene, c int) {
		s.must(s.proxy.Kill())
		restart(s, c)
		s.proxies = nil
		s.proxy = s.start()
		s.rival(s.proxy)
	})},
}

func TestR21RealForgets(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := stage(t, w.cast)
			c := s.last()
			forget := w.forget(s, c)
			s.take()
			before := s.marks()
			forget()
			s.vouchedAnew(before, c)
			s.ends(c)
		})
	}
}

// Two of five at once: only one node is left that has the lock.
func TestR21RealTwoForget(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 5, proxies: 2})
	s.take()
	before := s.marks()
	s.must(s.nodes[3].Kill())
	restart(s, 4)
	restart(s, 3)
	s.vouchedAnew(before, 3, 4)
	s.ends(3, 4)
}

// soon is generous: it takes a second (R) and a moment, which virtual time shows exactly.
const soon = 15 * time.Second

// P11: a fleet that is new votes once the rounds that might be in flight have ended, also if several redlockd are new.
func TestR21RealNewFleet(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := stage(t, cast{n: 5, proxies: 3})
	for _, p := range s.proxies {
		if r, err := redis.String(s.client(p.Addr).Do("SET", p.Addr, "t", "NX", "PX", 60000)); err != nil || r != "OK" {
			t.Errorf("%v %v", r, err)
		}
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v", took)
	}
	// One that comes later needs no new mark.
	before := s.marks()
	began = time.Now()
	s.start()
	s.allVouched()
	if took := time.Since(began); took > soon {
		t.Errorf("the next one took %v", took)
	}
	for i, mark := range s.marks() {
		if mark != before[i] {
			t.Errorf("node %d was vouched for by %s, now by %s", i, before[i], mark)
		}
	}
}

func TestR21RealDemoVotes(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p, err := servers.StartRedlockd(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := fleet{T: t, proxy: p}
	c := f.client(p.Addr)
	f.eventually("granted", func() bool {
		r, err := redis.String(c.Do("SET", "lock", "t", "NX", "PX", 60000))
		return err == nil && r == "OK"
	})
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v", took)
	}
}

// However many locks there are, redlockd has two keys of its own on a node at most, and no client can read or write them.
func TestR21RealReservedKeys(t *testing.T) {
	t.Parallel()
	s := stage(t, cast{n: 3})
	c := s.client(s.proxy.Addr)
	const locks = 2000
	for i := range locks {
		s.must(c.Send("SET", fmt.Sprintf("lock%d", i), "t", "NX", "PX", 600000))
	}
	s.must(c.Flush())
	for range locks {
		if r, err := redis.String(c.Receive()); err != nil || r != "OK" {
			t.Fatal(r, err)
		}
	}
	own := func(i int) int {
		v, err := redis.Strings(s.try(i, "KEYS", quorum.Reserved+"*"))
		s.must(err)
		return len(v)
	}
	restart(s, s.last())
	most := 0
	for s.mark(s.last()) == "" {
		most = max(most, own(s.last())) // while it is taught: the mark, and the teacher's name
	}
	for i := range s.nodes {
		most = max(most, own(i))
		size, _ := s.at(i, "DBSIZE").(int64)
		if size < locks || size > locks+2 {
			t.Errorf("node %d has %d keys", i, size)
		}
	}
	if most > 2 {
		t.Errorf("%d keys of ours on a node", most)
	}
	for _, name := range []string{quorum.MarkKey, quorum.TeacherKey, quorum.ProbeKey, quorum.Reserved + "x"} {
		for _, words := range [][]any{
			{"SET", name, "t", "NX", "PX", 1000}, {"GET", name}, {"DEL", name}, {"PTTL", name}, {"PEXPIRE", name, 1},
			{"EVAL", compareAndDelete, 1, name, "t"},
		} {
			if r, err := c.Do(words[0].(string), words[1:]...); err == nil || !strings.Contains(err.Error(), "redlockd") {
				t.Errorf("%v: %v %v", words, r, err)
			}
		}
	}
	// The value of a blocker is nobody's token.
	if r, err := c.Do("SET", "lock", quorum.Blocker, "NX", "PX", 1000); err == nil {
		t.Errorf("%v", r)
	}
}
