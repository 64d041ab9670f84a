package quorum

import (
	"fmt"
	"testing"
	"time"
)

func TestP4CheckWall(t *testing.T) {
	const tolerance = 500 * ms
	for shift, want := range map[time.Duration]bool{0: false, 499 * ms: false, -499 * ms: false, 504 * ms: true, -504 * ms: true, time.Hour: true} {
		w := vouchedWatch(t, running(0), time.Minute)
		w.CheckWall(since1970-shift, tolerance)
		by, wall, jumped := w.Jumped()
		if jumped != want || wall != want || want && !by.overlaps(Shift{shift, shift}) {
			t.Fatalf("%v: %v by %v, by wall clock %v", shift, jumped, by, wall)
		}
		if moved, ok := w.WallShift(since1970 - shift); !ok || !moved.overlaps(Shift{shift, shift}) || moved.width() > 5*ms {
			t.Fatalf("%v: %v %v", shift, moved, ok)
		}
		if !want {
			continue
		}
		s := &scene{t, w, running(0), time.Minute + 2*ms}
		s.wantVotes(false, s.see(w.Trust(), "run:v:0"))
		w.Condemn()
		if vouch, due := w.Condemned(); !due || vouch != "run:v:" {
			t.Fatalf("%q %v", vouch, due)
		}
		if w.Retracted("run:v:"); w.Standing() != Forgetful {
			t.Fatal(w.Standing())
		}
		s.wantVotes(false, s.see(w.Trust(), "run:v:0"))
		s.wantUnvouched(nil, Forgetful)
	}
	w := NewWatch("run", nil)
	w.CheckWall(since1970, 0) // nothing is known
	if _, _, jumped := w.Jumped(); jumped {
		t.Fatal("jumped")
	}
	stepped := jumpedWatch(t, time.Second)
	stepped.CheckWall(0, tolerance)
	if _, wall, _ := stepped.Jumped(); wall {
		t.Fatal("a jump that was witnessed is one by wall clocks")
	}
}

// A clock that went apart from ours slowly, before our eyes, has not jumped for those who come later.
func TestP4Renew(t *testing.T) {
	const tolerance = 400 * ms
	w := vouchedWatch(t, running(0), time.Minute)
	for shift, want := range map[time.Duration]string{
		0: "", 99 * ms: "", -99 * ms: "", 105 * ms: "run:v:105", -105 * ms: "run:v:-105", time.Second: "run:v:1000",
	} {
		old, renewed, due := w.Renew(since1970-shift, tolerance)
		if due != (want != "") || due && old != "run:v:0" {
			t.Fatalf("%v: %q %q %v", shift, old, renewed, due)
		}
		if m := ParseMark(renewed); due && (m.RunID != "run" || m.Nonce != "v" || max(m.Offset-shift, shift-m.Offset) > 2*ms) {
			t.Errorf("%v: %q, want about %q", shift, renewed, want)
		}
	}
	jumped := jumpedWatch(t, time.Second)
	if _, _, due := jumped.Renew(0, tolerance); due {
		t.Error("the mark of a node that jumped is renewed")
	}
}

// By wall clocks: a redlockd whose wall clock is wrong sees all marks off alike, within what their offsets may be wrong by.
func TestP4WallEvidence(t *testing.T) {
	const tolerance = 500 * ms
	marked := func(offset time.Duration) *Watch {
		w := NewWatch("run", nil)
		_ = w.See(Look{Mark: fmt.Sprintf("run:v:%d", offset.Milliseconds()), Clock: running(0).read(time.Minute, ms, ms)})
		return w
	}
	wall := time.Duration(since1970) // as the nodes say
	for _, c := range []struct {
		offset time.Duration
		moved  bool
	}{{0, false}, {499 * ms, false}, {-499 * ms, false}, {503 * ms, true}, {-503 * ms, true}} {
		e := marked(c.offset).WallEvidence(wall, tolerance)
		if !e.Heard || e.Moved != c.moved || !e.By.overlaps(Shift{-c.offset, -c.offset}) {
			t.Errorf("offset %v: %+v", c.offset, e)
		}
	}
	w := marked(10 * time.Second)
	w.CheckWall(wall, tolerance)
	by, _, _ := w.Jumped()
	for apart, want := range map[time.Duration]Blame{250 * ms: Ours, -250 * ms: Ours, 2 * time.Second: Theirs} {
		other := marked(10*time.Second+apart).WallEvidence(wall, tolerance)
		if got := JudgeClock(by, []Evidence{other, {Heard: true}}); got != want {
			t.Errorf("%v apart: %v", apart, got)
		}
	}
	// Settled, and not read yet: it has nothing to say. A node without a mark will never have.
	w.Forgive()
	if e := w.WallEvidence(wall, tolerance); e.Heard {
		t.Errorf("%+v", e)
	}
	_ = w.See(Look{Mark: "", Clock: running(0).read(time.Minute+time.Second, ms, ms)})
	if e := w.WallEvidence(wall, tolerance); !e.Heard || e.Moved {
		t.Errorf("%+v", e)
	}
}
