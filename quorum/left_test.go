package quorum

import (
	"testing"
	"time"
)

// An address leads to X, then to Y, then to X again, which has kept its memory and its mark, and has missed what was taken
// while Y voted in its place. X is un-vouched before its yes could count, and taught.
func TestP1InstanceThatComesBack(t *testing.T) {
	look := func(w *Watch, mark string) error {
		return w.See(Look{Trust: w.Trust(), Mark: mark, Clock: Reading{Sent: time.Second, Received: time.Second, Node: time.Hour}})
	}
	x := NewWatch("x", nil)
	look(x, "x:1:0")
	again := NewWatch("x", x) // only a new connection
	look(again, "x:1:0")
	if err := look(again, "x:1:0"); err != nil {
		t.Fatal(err)
	}
	y := NewWatch("y", again)
	look(y, "y:1:0")
	if err := look(y, "y:1:0"); err != nil {
		t.Fatal(err)
	}
	back := NewWatch("x", NewWatch("y", y))
	look(back, "x:1:7") // its offset was renewed meanwhile
	if err := look(back, "x:1:7"); err == nil || back.Vouched() != errCameBack || back.Standing() != Unreached {
		t.Fatal(err, back.Vouched(), back.Standing())
	}
	vouch, due := back.Condemned()
	if !due || vouch != "x:1:" {
		t.Fatal(vouch, due)
	}
	back.Retracted(vouch)
	look(back, SpoiltMark)
	if back.Standing() != Spoilt {
		t.Fatal(back.Standing())
	}
	look(back, "x:2:0") // it was taught
	if err := look(back, "x:2:0"); err != nil || back.Standing() != Trusted {
		t.Fatal(err, back.Standing())
	}
	for range 3 * maxLeft {
		look(y, "y:1:0")
		y = NewWatch("x", y)
		look(y, "x:3:0")
		y = NewWatch("y", y)
	}
	if len(y.left) > maxLeft {
		t.Fatal(len(y.left))
	}
}
