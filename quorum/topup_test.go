package quorum

import (
	"errors"
	"slices"
	"testing"
	"time"
)

const began = 100 * ms

func roundOf(op Op, n int) *Round {
	req := &Request{Op: op, Key: []byte("k"), Token: []byte("t"), TTL: time.Second, Life: Pad(time.Second)}
	r := NewRound(req, n, began, time.Hour)
	return &r
}

// confirm r in time, which must be granted.
func confirm(t *testing.T, r *Round, now time.Duration) []Amend {
	t.Helper()
	ruling, amends := r.Confirm(now, 500*ms)
	if ruling.Verdict != Granted {
		t.Fatal(ruling.Verdict)
	}
	return amends
}

// said is everything that a node may say to a take or an extend, and whether it lacks the lock for certain then.
var said = map[string]struct {
	Answer
	lacks map[Op]bool
}{
	"yes":             {Answer{Vote: Yes}, nil},
	"yes, in doubt":   {Answer{Vote: Yes, Doubt: errors.New("restarted")}, nil},
	"no: missing":     {Answer{Vote: No, Number: Missing}, map[Op]bool{Extend: true}},
	"missing, doubt":  {Answer{Vote: No, Number: Missing, Doubt: errors.New("restarted")}, map[Op]bool{Extend: true}},
	"no: another's":   {Answer{Vote: No, Number: Other}, nil},
	"no":              {Answer{Vote: No}, nil},
	"not asked":       {Answer{Trace: Nothing, Err: errors.New("down")}, map[Op]bool{Take: true, Extend: true}},
	"answer lost":     {Answer{Trace: Lost, Err: errors.New("broken")}, map[Op]bool{Take: true, Extend: true}},
	"answer awaited":  {Answer{Trace: Awaited, Err: errors.New("late")}, nil},
	"refused, doubt":  {Answer{Err: errors.New("OOM"), Doubt: errors.New("restarted")}, map[Op]bool{Take: true, Extend: true}},
	"lost and doubt ": {Answer{Trace: Lost, Doubt: errors.New("broken")}, map[Op]bool{Take: true, Extend: true}},
}

// TestTopUpOfEveryAnswer: after the grant was confirmed, and not before, a node that lacks the lock for certain gets it, whether
// its answer came before or comes after; once, with what is left of the lock, and until it ends.
func TestTopUpOfEveryAnswer(t *testing.T) {
	for name, a := range said {
		for _, op := range []Op{Take, Extend, Overwrite, Expire} {
			for _, before := range []bool{true, false} {
				r := roundOf(op, 5)
				wantTargets(t, r.Hear(0, at(yes, 101*ms)))
				wantTargets(t, r.Hear(1, at(yes, 101*ms)))
				if before {
					wantTargets(t, r.Hear(3, at(a.Answer, 102*ms)))
				}
				wantTargets(t, r.Hear(2, at(yes, 103*ms)))
				var amends []Amend
				if before {
					amends = confirm(t, r, 110*ms)
				} else {
					wantTargets(t, confirm(t, r, 110*ms))
					amends = r.Hear(3, at(a.Answer, 400*ms))
				}
				if !a.lacks[op] {
					if len(amends) > 0 {
						t.Errorf("%v, %s: %v", op, name, targets(amends))
					}
					continue
				}
				wantTargets(t, amends, 3)
				req := amends[0].Req
				if req.Op != TopUp || string(req.Key) != "k" || string(req.Token) != "t" ||
					amends[0].Until != began+Pad(time.Second) || req.Rest(600*ms) != Pad(time.Second)-500*ms {
					t.Errorf("%v, %s: %+v until %v", op, name, req, amends[0].Until)
				}
				wantTargets(t, r.Hear(4, at(yes, 401*ms))) // not again
				wantTargets(t, confirm(t, r, 402*ms))
			}
		}
	}
}

// The node that owed its answer, and can no longer give it, gets the lock then.
func TestTopUpOfALateLoss(t *testing.T) {
	r := roundOf(Take, 3)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(Answer{Trace: Awaited, Err: errors.New("late")}, 150*ms))
	r.Hear(2, at(yes, 151*ms))
	wantTargets(t, confirm(t, r, 152*ms))
	wantTargets(t, r.Hear(1, at(Answer{Trace: Lost}, 700*ms)), 1)

	ended := roundOf(Take, 3)
	ended.Hear(0, at(yes, 101*ms))
	ended.Hear(2, at(yes, 101*ms))
	wantTargets(t, confirm(t, ended, 102*ms))
	wantTargets(t, ended.Hear(1, at(Answer{Trace: Lost}, began+Pad(time.Second)))) // nothing is left of it

	justNot := roundOf(Take, 3)
	justNot.Hear(0, at(yes, 101*ms))
	justNot.Hear(2, at(yes, 101*ms))
	confirm(t, justNot, 102*ms)
	wantTargets(t, justNot.Hear(1, at(Answer{Trace: Lost}, began+Pad(time.Second)-1)), 1)
}

// Without a grant, and with one that came too late, no node is given anything.
func TestTopUpOnlyOfAGrant(t *testing.T) {
	for _, op := range []Op{Take, Extend} {
		for _, answers := range [][]Answer{
			{no, no, unknown}, {yes, unknown, unknown}, {yes, no, unknown}, {{Vote: No, Number: Missing}, {Vote: No, Number: Missing}, unknown},
		} {
			r := roundOf(op, 3)
			var all []Amend
			for i, a := range answers {
				all = append(all, r.Hear(i, at(a, 101*ms))...)
			}
			ruling, amends := r.Confirm(102*ms, 500*ms)
			all = append(all, amends...)
			if ruling.Verdict == Granted || slices.ContainsFunc(all, func(a Amend) bool { return a.Req.Op == TopUp }) {
				t.Errorf("%v, %v: %v %v", op, answers, ruling.Verdict, targets(all))
			}
		}
		late := roundOf(op, 3)
		late.Hear(0, at(yes, 101*ms))
		late.Hear(1, at(Answer{Trace: Lost}, 101*ms))
		late.Hear(2, at(yes, 101*ms))
		ruling, amends := late.Confirm(began+500*ms, 500*ms)
		if ruling.Verdict != Undecided || slices.Contains(targets(amends), 1) {
			t.Errorf("%v, too late: %v %v", op, ruling.Verdict, targets(amends))
		}
		waiting := roundOf(op, 3)
		waiting.Hear(0, at(Answer{Trace: Lost}, 101*ms))
		if ruling, amends := waiting.Confirm(102*ms, 500*ms); ruling.Verdict != Open || len(amends) > 0 {
			t.Errorf("%v, open: %v %v", op, ruling.Verdict, targets(amends))
		}
	}
}

// What an extend adds to is not known where the key is missing.
func TestTopUpNotForAdd(t *testing.T) {
	req := &Request{Op: Extend, Key: []byte("k"), Token: []byte("t"), TTL: time.Second, Life: Pad(time.Second), Add: true, Cap: time.Hour}
	r := NewRound(req, 3, began, time.Hour)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(Answer{Vote: No, Number: Missing}, 101*ms))
	r.Hear(2, at(yes, 101*ms))
	wantTargets(t, confirm(t, &r, 102*ms))
}

// A grant that is given back after all: taken back where a yes was heard, left to its ttl where it was topped up, and
// no node is topped up any more.
func TestTopUpIsNotTakenBack(t *testing.T) {
	r := roundOf(Take, 5)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(Answer{Trace: Nothing}, 101*ms))
	r.Hear(2, at(yes, 101*ms))
	r.Hear(3, at(yes, 102*ms))
	wantTargets(t, confirm(t, r, 103*ms), 1)
	amends := r.Refuse(104 * ms)
	wantTargets(t, amends, 0, 2, 3)
	for _, a := range amends {
		if a.Req.Op != TakeBack {
			t.Errorf("%+v", a.Req)
		}
	}
	wantTargets(t, r.Hear(4, at(Answer{Trace: Lost}, 105*ms)))
	wantTargets(t, r.Refuse(106*ms))

	extended := roundOf(Extend, 3)
	extended.Hear(0, at(yes, 101*ms))
	extended.Hear(2, at(yes, 101*ms))
	confirm(t, extended, 102*ms)
	wantTargets(t, extended.Refuse(103*ms))
	wantTargets(t, extended.Hear(1, at(Answer{Vote: No, Number: Missing}, 104*ms)))
}
