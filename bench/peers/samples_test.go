package main

import (
	"strings"
	"testing"

	"redlockd/bench/load"
	"redlockd/bench/servers"
)

// What a row that believes too much is told. Three nodes, of which one may be stopped.
func TestSamples(t *testing.T) {
	nodes, err := servers.StartFleet(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		t.Cleanup(func() { n.Close() })
	}
	on := func(nodes []*servers.Redis, command string, args ...any) {
		t.Helper()
		for _, n := range nodes {
			if _, err := n.Do(command, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	believe := func(got uint64, h held) *samples {
		s := new(samples)
		*s.client() = sample{got: got, last: h}
		s.client() // who got nothing is not looked for
		return s
	}
	say := func(s *samples, work load.Work, want string) {
		t.Helper()
		err := s.checkOn(nodes, proof(work), 2)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	taken, released := held{key: "a", token: "mine"}, held{key: "a", released: true}

	say(new(samples), load.Take, "no client got a lock")
	say(believe(1, taken), load.Take, "a was taken and does not stand")
	say(believe(1, released), load.Cycle, "1 locks of 2 votes were counted, but the nodes have carried out only 0 del")
	on(nodes[:1], "SET", "a", "mine")
	say(believe(1, taken), load.Take, "does not stand")
	on(nodes[1:2], "SET", "a", "another's")
	say(believe(1, taken), load.Take, "does not stand")
	say(believe(1, released), load.Cycle, "a was released and still stands")
	on(nodes[1:2], "SET", "a", "mine")
	say(believe(1, taken), load.Take, "")
	say(believe(2, taken), load.Take, "2 locks of 2 votes were counted, but the nodes have carried out only 3 set")
	if err := nodes[2].Pause(); err != nil {
		t.Fatal(err)
	}
	say(believe(1, taken), load.Take, "")
	if err := nodes[1].Kill(); err != nil {
		t.Fatal(err)
	}
	say(believe(1, taken), load.Take, "does not stand")
}
