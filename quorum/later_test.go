package quorum

import (
	"fmt"
	"testing"
	"time"
)

var untaught = Answer{Err: fmt.Errorf("not asked: %w", errTaught)}

// What a lesson may copy from a node before a take is undone there is undone on the pupil, too, once it was taught. It is found
// by its expiry, which may be a moment later than on the node it came from.
func TestP8UndoOfACopy(t *testing.T) {
	r := roundOf(Take, 5)
	wantTargets(t, r.Hear(0, at(untaught, 100*ms)))
	r.Hear(1, at(yes, 102*ms))
	r.Hear(2, at(no, 103*ms))
	r.Hear(3, at(no, 103*ms))
	amends := r.Hear(4, at(no, 104*ms))
	wantTargets(t, amends, 0, 1)
	later, now := amends[0].Req, amends[1].Req
	if later.Op != TakeBack || !later.Later || later.Most(102*ms) != Pad(time.Second)+spread+Drift(0) || amends[0].Until != began+Pad(time.Second) {
		t.Errorf("%+v until %v", later, amends[0].Until)
	}
	if now.Op != TakeBack || now.Later {
		t.Errorf("%+v", now)
	}
	wantTargets(t, r.Refuse(105*ms)) // once

	// Where nobody said yes there is nothing to copy, until somebody does.
	none := roundOf(Take, 3)
	none.Hear(0, at(untaught, 100*ms))
	none.Hear(1, at(Answer{Trace: Awaited}, 150*ms))
	wantTargets(t, none.Hear(2, at(no, 151*ms)))
	wantTargets(t, none.Hear(1, at(yes, 152*ms)), 0, 1)

	tooLate := roundOf(Take, 3)
	tooLate.Hear(0, at(untaught, 100*ms))
	tooLate.Hear(1, at(Answer{Trace: Awaited}, 150*ms))
	tooLate.Hear(2, at(no, 151*ms))
	wantTargets(t, tooLate.Hear(1, at(yes, began+time.Second)))

	// A node that is merely down is not being taught.
	down := roundOf(Take, 3)
	down.Hear(0, at(Answer{Trace: Nothing, Err: fmt.Errorf("down")}, 100*ms))
	down.Hear(1, at(yes, 101*ms))
	wantTargets(t, down.Hear(2, at(no, 101*ms)), 1)
}

// A grant is given to a node that is being taught at once, and what it may copy is undone with the grant.
func TestP8TopUpOfAPupil(t *testing.T) {
	r := roundOf(Take, 3)
	r.Hear(0, at(untaught, 100*ms))
	r.Hear(1, at(yes, 101*ms))
	r.Hear(2, at(yes, 102*ms))
	amends := confirm(t, r, 103*ms)
	wantTargets(t, amends, 0)
	if a := amends[0].Req; a.Op != TopUp || a.Later {
		t.Errorf("%+v", a)
	}
	amends = r.Refuse(104 * ms)
	wantTargets(t, amends, 0, 1, 2)
	if !amends[0].Req.Later || amends[1].Req.Later || amends[2].Req.Later {
		t.Errorf("%+v", amends)
	}
}

// A node that is being taught may be given a lock after it had released it, or had not had it.
func TestP8ReleaseOfACopy(t *testing.T) {
	doubt := func(a Answer) Answer { a.Doubt = errTaught; return a }
	for _, said := range []Answer{untaught, doubt(Answer{Vote: Yes, Left: 650}), doubt(Answer{Vote: No, Number: Missing})} {
		r := roundOf(Release, 3)
		r.Hear(0, at(said, 100*ms))
		r.Hear(1, Answer{Vote: Yes, Left: 700, At: 101 * ms})
		amends := r.Hear(2, Answer{Vote: Yes, Left: 690, At: 102 * ms})
		wantTargets(t, amends, 0)
		if a := amends[0]; a.Req.Op != TakeBack || !a.Req.Later || a.Until != 801*ms || a.Req.Most(101*ms) != 700*ms+spread+Drift(0) {
			t.Errorf("%+v: %+v until %v", said, a.Req, a.Until)
		}
	}
	denied := roundOf(Release, 3)
	denied.Hear(0, at(untaught, 100*ms))
	denied.Hear(1, Answer{Vote: No, Number: Other, At: 101 * ms})
	wantTargets(t, denied.Hear(2, Answer{Vote: No, Number: Missing, At: 101 * ms}))

	// Nobody has said how long it lives: the token alone must do.
	r := roundOf(Release, 3)
	r.Hear(0, at(untaught, 100*ms))
	amends := r.Hear(1, at(Answer{Err: fmt.Errorf("down")}, 100*ms))
	wantTargets(t, amends, 0, 1)
	if !amends[0].Req.Later || amends[1].Req.Later || amends[0].Req.Op != Release || string(amends[0].Req.Token) != "t" {
		t.Errorf("%+v, %+v", amends[0].Req, amends[1].Req)
	}
}
