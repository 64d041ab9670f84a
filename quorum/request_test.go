package quorum

import (
	"testing"
	"time"
)

// What only removes, and a top-up, goes to every node; what must not, or need not, only to those that are vouched for.
func TestP12ForAll(t *testing.T) {
	want := map[Op]bool{Release: true, TakeBack: true, Delete: true, TopUp: true}
	for op := Op(0); op <= TopUp; op++ {
		if op.ForAll() != want[op] {
			t.Errorf("%v: %v", op, op.ForAll())
		}
	}
}

// A top-up promises nothing, and what does is judged by the clock.
func TestP3Promises(t *testing.T) {
	want := map[Op]bool{Take: true, Overwrite: true, Extend: true, Expire: true}
	names := map[string]bool{}
	for op := Op(0); op <= TopUp; op++ {
		if op.Promises() != want[op] {
			t.Errorf("%v: %v", op, op.Promises())
		}
		names[op.String()] = true
	}
	if len(names) != int(TopUp)+1 {
		t.Errorf("two operations are called the same: %v", names)
	}
}

// What a node is topped up with ends when the lock does, however late it is told.
func TestTopUpRest(t *testing.T) {
	req := &Request{Op: TopUp, Life: time.Second, SetBy: 100 * ms}
	for now, want := range map[time.Duration]time.Duration{100 * ms: time.Second, 350 * ms: 750 * ms, 1100 * ms: 0, 2100 * ms: -time.Second} {
		if got := req.Rest(now); got != want {
			t.Errorf("told at %v: %v is left, want %v", now, got, want)
		}
	}
}

// A delete of one key counts to one, whether it stands in Key or in Keys: until the last vote that matters it is not known to be none.
func TestMostOfOneKey(t *testing.T) {
	yes, no := Answer{Vote: Yes, Number: 1}, Answer{Vote: No}
	for _, req := range []*Request{{Op: Delete, Key: []byte("k"), If: IfNotEqual}, {Op: Delete, Keys: [][]byte{[]byte("k")}}} {
		r := NewRound(req, 5, 0, time.Hour)
		for i, a := range []Answer{yes, yes, no, no, yes} {
			if r.ruling.Verdict != Open {
				t.Errorf("%v after %d votes", r.ruling.Verdict, i)
			}
			r.Hear(i, a)
		}
		if r.ruling.Verdict != Granted || r.ruling.Number != 1 {
			t.Errorf("%+v", r.ruling)
		}
	}
}
