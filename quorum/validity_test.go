package quorum

import (
	"testing"
	"testing/quick"
	"time"
)

const ms = time.Millisecond

func TestR15Drift(t *testing.T) {
	if got := Drift(10 * time.Second); got != 102*ms {
		t.Fatalf("drift of 10s: %v", got)
	}
	if got := Drift(0); got != 2*ms {
		t.Fatalf("drift of nothing: %v", got)
	}
}

// The nodes are given so much that a client which subtracts nothing has its whole ttl.
func TestR16PaddedLockIsValidForTheWholeTTL(t *testing.T) {
	law := func(n uint32) bool {
		ttl := time.Duration(n)*ms + 1
		return Validity(ttl, Pad(ttl), 0) >= ttl && Pad(ttl)%ms == 0
	}
	if err := quick.Check(law, nil); err != nil {
		t.Fatal(err)
	}
}

// What is read back is never more than what was asked for, and loses less than a
// millisecond on the way.
func TestUnpadIsTheInverseRoundedDown(t *testing.T) {
	law := func(n uint32) bool {
		ttl := time.Duration(n) * ms
		back := Unpad(Pad(ttl))
		return back <= ttl && ttl-back <= ms
	}
	if err := quick.Check(law, nil); err != nil {
		t.Fatal(err)
	}
	if Unpad(0) != 0 || Unpad(-time.Second) != 0 || Unpad(time.Duration(1<<62)) <= 0 {
		t.Fatal("at the ends")
	}
}

func TestR14InTime(t *testing.T) {
	limit := 500 * ms
	for _, c := range []struct {
		ttl, spent time.Duration
		pad, want  bool
	}{
		{10 * time.Second, 0, true, true},
		{10 * time.Second, 499 * ms, true, true},
		{10 * time.Second, 500 * ms, true, false}, // the round limit
		{100 * ms, 99 * ms, true, true},
		{100 * ms, 100 * ms, true, false}, // the ttl
		{100 * ms, 96 * ms, false, true},  // classic: 100 - 96 - 3 of drift
		{100 * ms, 97 * ms, false, false},
		{2 * ms, 0, false, false}, // nothing is left of it
		{2 * ms, 0, true, true},
	} {
		life := c.ttl
		if c.pad {
			life = Pad(c.ttl)
		}
		if got := InTime(c.ttl, life, limit, c.spent); got != c.want {
			t.Errorf("ttl %v, spent %v, pad %v: %v", c.ttl, c.spent, c.pad, got)
		}
	}
}
