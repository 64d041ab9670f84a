package backend

import (
	"context"
	"strings"
	"testing"
	"time"

	"redlockd/quorum"
)

// A connection beside the pipe may lead to another instance than the pipe: the replica that was promoted behind the address, for one. It
// carries the same mark, and is not vouched for by it (P7).
func TestP7TheMarkOfAnotherInstance(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		mark, _, err := f.pipe.credentials()
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.pipe.aside(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.carries(sameVouch(mark)); err != nil {
			t.Fatal(err)
		}
		s.runID = "of the replica"
		if err := s.carries(sameVouch(mark)); err != errNotMarked {
			t.Fatal(err)
		}
	})
}

// What is a lock is read with its token; what is too long for one of ours, as one that nobody can have. What is none is not read.
func TestP7Page(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		longest := strings.Repeat("x", longestToken)
		f.node.Put("lock", "t", time.Minute)
		f.node.Put("longest", longest, time.Minute)
		f.node.Put("too long", longest+"x", time.Minute)
		f.node.Put("for ever", "t", 0)
		s, err := f.pipe.aside(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		found := map[string]string{}
		for cursor := "0"; ; {
			var locks []lock
			if cursor, locks, err = s.page(cursor); err != nil {
				t.Fatal(err)
			}
			for _, l := range locks {
				found[string(l.key)] = string(l.token)
			}
			if cursor == "0" {
				break
			}
		}
		want := map[string]string{"lock": "t", "longest": longest, "too long": quorum.Blocker}
		if len(found) != len(want) {
			t.Fatalf("%d keys", len(found))
		}
		for key, token := range want {
			if found[key] != token {
				t.Errorf("%s is read as %.20q", key, found[key])
			}
		}
	})
}

// A node that another redlockd has un-vouched in the meantime is not taken for a new one, and stays so until it is vouched for (P11).
func TestP11SpoiltIsNotNew(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put(quorum.MarkKey, quorum.SpoiltMark, 0)
		s, err := f.pipe.pupil(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if _, err := s.begin("new"); err != errSpoilt {
			t.Fatal(err)
		}
		if _, err := s.begin(""); err != nil {
			t.Fatal(err)
		}
		if mark, _ := f.node.Value(quorum.MarkKey); !quorum.IsSpoilt(mark) || mark == quorum.SpoiltMark {
			t.Fatalf("marked %q", mark)
		}
		if _, err := s.begin("new"); err != errSpoilt {
			t.Fatal(err)
		}
	})
}

// A node that has kept everything on its disk has lost some of it all the same if its clock jumped while it was away (P13).
func TestP13ClockJumpedWhileItWasAway(t *testing.T) {
	for offset, want := range map[time.Duration]bool{0: true, -10 * time.Second: false, 10 * time.Second: false} {
		inBubble(t, nil, func(f fixture) {
			f.node.Configure("appendonly", "yes")
			f.node.Configure("appendfsync", "always")
			f.node.Put(quorum.MarkKey, quorum.Mark{RunID: "before", Nonce: "n", Offset: offset}.String(), 0)
			s, err := f.pipe.pupil(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			if _, err := s.begin(""); err != nil {
				t.Fatal(err)
			}
			if got := s.complete(); got != want {
				t.Fatalf("complete is %v after a jump of %v", got, offset)
			}
		})
	}
}
