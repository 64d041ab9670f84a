package quorum

import (
	"errors"
	"testing"
	"time"
)

// vouchedWatch is a watch of a node whose instance "run" is vouched for by "run:v:0".
func vouchedWatch(t *testing.T, node clockOf, now time.Duration) *Watch {
	t.Helper()
	w := NewWatch("run", nil)
	if err := w.See(Look{Trust: w.Trust(), Mark: "run:v:0", Clock: node.read(now, ms, ms)}); err == nil {
		t.Fatal("a vote of before the first mark was read counts")
	}
	if w.Vouched() != nil || w.Mark() != "run:v:0" || w.Standing() != Trusted {
		t.Fatalf("%v %q", w.Vouched(), w.Mark())
	}
	return w
}

// scene is a watch, with a healthy clock that is read once a millisecond.
type scene struct {
	*testing.T
	w    *Watch
	node clockOf
	now  time.Duration
}

func newScene(t *testing.T) *scene {
	return &scene{t, vouchedWatch(t, running(0), time.Minute), running(0), time.Minute + 2*ms}
}

// see what is read behind a flush that was sent with trust.
func (s *scene) see(trust Trust, mark string) error {
	s.now += ms
	return s.w.See(Look{Trust: trust, Mark: mark, Clock: s.node.read(s.now, 100*us, 100*us)})
}

// jump of the node's clock by d, seen together with mark.
func (s *scene) jump(d time.Duration, mark string) {
	s.Helper()
	s.node = s.node.stepping(s.now, d)
	if err := s.see(s.w.Trust(), mark); err == nil {
		s.Fatal("P4: a vote behind a step counts")
	}
	if by, wall, jumped := s.w.Jumped(); !jumped || wall || !by.overlaps(Shift{d, d}) {
		s.Fatalf("%v %v %v", by, wall, jumped)
	}
}

// jumpedWatch is one whose node's clock has jumped by d.
func jumpedWatch(t *testing.T, d time.Duration) *Watch {
	t.Helper()
	s := newScene(t)
	s.jump(d, "run:v:0")
	return s.w
}

func (s *scene) wantVotes(want bool, err error) {
	s.Helper()
	if (err == nil) != want {
		s.Fatalf("the votes count: %v (%v)", err == nil, err)
	}
}

// wantUnvouched: takes are not sent, and the error says why.
func (s *scene) wantUnvouched(why error, standing Standing) {
	s.Helper()
	if err := s.w.Vouched(); err == nil || why != nil && err != why || s.w.Trust().vouched || s.w.Mark() != "" || s.w.Standing() != standing {
		s.Fatalf("%v, %v, mark %q", err, s.w.Standing(), s.w.Mark())
	}
}

func TestP2NothingReadVouchesForNothing(t *testing.T) {
	s := &scene{T: t, w: NewWatch("run", nil)}
	s.wantUnvouched(errUnread, Unreached)
	if s.w.Trust() != (Trust{}) || s.w.runID != "run" {
		t.Fatalf("%+v", s.w)
	}
}

// The mark must have been read before, and stand behind the requests.
func TestP2VouchedBeforeAndAfter(t *testing.T) {
	s := newScene(t)
	for range 3 {
		s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))
	}
	s.wantVotes(false, s.see(Trust{}, "run:v:0")) // not known before
	s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))
}

// Whatever stands behind the requests instead of the mark makes them count for nothing.
func TestP2AnotherMarkBehind(t *testing.T) {
	for mark, why := range map[string]error{
		"": errUnmarked, "teaching:x": errTaught, "teaching:run:v:0": errTaught, "other:v:0": errInstance, "run:v": errUnmarked, "run": errUnmarked,
	} {
		s := newScene(t)
		before := s.w.Trust()
		if err := s.see(before, mark); err != why {
			t.Errorf("%q: %v", mark, err)
		}
		s.wantUnvouched(why, Forgetful)
		// It came back, as it does not in life: it vouches only for what is asked for from here on.
		s.wantVotes(false, s.see(before, "run:v:0"))
		s.wantVotes(false, s.see(before, "run:v:0"))
		s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))
	}
}

// Taught again: the new mark vouches for what is sent after it was read.
func TestP2TaughtMeanwhile(t *testing.T) {
	s := newScene(t)
	before := s.w.Trust()
	if err := s.see(before, "run:v2:0"); err != errRetold {
		t.Fatal(err)
	}
	s.wantVotes(false, s.see(before, "run:v2:0"))
	if s.w.Vouched() != nil || s.w.Mark() != "run:v2:0" || s.w.Standing() != Trusted {
		t.Fatal(s.w.Vouched())
	}
	between := s.w.Trust()
	s.wantVotes(true, s.see(between, "run:v2:0"))
	s.wantVotes(false, s.see(before, "run:v2:0"))
	s.wantVotes(true, s.see(between, "run:v2:0")) // what others were asked before harms nobody
}

// Only the instance that this very connection reported can be vouched for (P1).
func TestP1OnlyThisInstance(t *testing.T) {
	for _, runID := range []string{"", "other", "ru", "run2", "teaching"} {
		w := NewWatch(runID, nil)
		s := &scene{T: t, w: w, node: running(0)}
		for range 3 {
			s.wantVotes(false, s.see(w.Trust(), "run:v:0"))
		}
		s.wantVotes(false, s.see(w.Trust(), ""))
		s.wantUnvouched(nil, Forgetful)
	}
}

// Why the node is not vouched for is what was seen first, until it is.
func TestP2TheFirstReasonIsTold(t *testing.T) {
	s := newScene(t)
	_ = s.see(s.w.Trust(), "")
	_ = s.see(s.w.Trust(), "teaching:x")
	s.wantUnvouched(errUnmarked, Forgetful)
	_ = s.see(s.w.Trust(), "run:v2:0")
	s.wantVotes(true, s.see(s.w.Trust(), "run:v2:0"))
}

// A flush behind which nothing could be read counts for nothing, and says nothing about others.
func TestP2NothingReadBehind(t *testing.T) {
	s := newScene(t)
	broken := errors.New("broken")
	if err := s.w.See(Look{Trust: s.w.Trust(), Mark: "run:v:0", Err: broken}); err != broken {
		t.Fatal(err)
	}
	s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))
}

// A renewed offset is the same vouch; a renewed offset of another is not.
func TestP4RenewedOffset(t *testing.T) {
	s := newScene(t)
	before := s.w.Trust()
	s.wantVotes(true, s.see(before, "run:v:300"))
	if s.w.Mark() != "run:v:300" {
		t.Fatal(s.w.Mark())
	}
	s.wantVotes(true, s.see(before, "run:v:300"))
	s.wantVotes(false, s.see(before, "run:w:300"))
	s.jump(time.Second, "run:w:300")
	s.w.Condemn()
	s.w.Retracted("run:w:")
	s.wantVotes(false, s.see(s.w.Trust(), "run:w:1300")) // a suspect by another offset
	s.wantUnvouched(nil, Forgetful)
}

// P4: nothing counts until the mark was deleted and a new one is read; the old one never again.
func TestP4AfterAStep(t *testing.T) {
	for _, by := range []time.Duration{time.Second, -time.Second, 24 * time.Hour} {
		s := newScene(t)
		before := s.w.Trust()
		s.jump(by, "run:v:0")
		jumped := s.w.Vouched()
		s.wantUnvouched(jumped, Unreached)
		for _, mark := range []string{"run:v:0", "run:v2:0", ""} { // also one that looks new
			s.wantVotes(false, s.see(s.w.Trust(), mark))
			s.wantVotes(false, s.see(before, mark))
			s.wantUnvouched(jumped, Unreached)
		}
		if _, due := s.w.Condemned(); due {
			t.Fatal("nothing is known yet of whose clock it was")
		}
		s.w.Condemn()
		if vouch, due := s.w.Condemned(); !due || vouch != "run:v:" {
			t.Fatalf("%q %v", vouch, due)
		}
		s.wantVotes(false, s.see(before, "run:v2:0"))
		s.wantUnvouched(jumped, Unreached)

		s.w.Retracted("run:v:")
		if _, due := s.w.Condemned(); due {
			t.Fatal("done")
		}
		s.wantUnvouched(jumped, Forgetful)
		s.wantVotes(false, s.see(before, "run:v:0"))
		s.wantVotes(false, s.see(s.w.Trust(), "run:v:0"))
		s.wantUnvouched(jumped, Forgetful)
		s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
		s.wantVotes(false, s.see(before, "run:v2:0"))
		s.wantVotes(true, s.see(s.w.Trust(), "run:v2:0"))
	}
}

// What stood before the jump and what was seen with it are both suspects, and each of them only if it vouched.
func TestP4Suspects(t *testing.T) {
	for mark, vouch := range map[string]string{"run:v2:0": "run:v2:", "": "", "teaching:x": ""} {
		s := newScene(t)
		s.jump(time.Second, mark)
		s.w.Condemn()
		if got, due := s.w.Condemned(); !due || got != vouch {
			t.Fatalf("%q: %q is to go, want %q", mark, got, vouch)
		}
		s.w.Retracted(vouch)
		for _, suspect := range []string{"run:v:0", mark} {
			s.wantVotes(false, s.see(s.w.Trust(), suspect))
			s.wantUnvouched(nil, Forgetful)
		}
	}
}

// A clock that jumps again before a new mark is read is compared with what it showed last, not with what it will show.
func TestP4ASecondStepWhileTheFirstIsSettled(t *testing.T) {
	for name, settle := range map[string]func(*Watch){
		"condemned": func(w *Watch) { w.Condemn(); w.Retracted("run:v:") },
		"forgiven":  (*Watch).Forgive,
	} {
		s := newScene(t)
		s.jump(time.Second, "run:v:0")
		s.wantVotes(false, s.see(s.w.Trust(), "")) // the tail behind the deletion
		settle(s.w)
		s.node = s.node.stepping(s.now, time.Second)
		s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
		if _, _, jumped := s.w.Jumped(); !jumped {
			t.Errorf("%s: a second jump is not seen", name)
		}
	}
}

// What a clock does before its first jump is settled makes suspect what was taught meanwhile, too, and an
// answer to what was to be done before is not enough.
func TestP4AnotherStepBeforeTheFirstIsSettled(t *testing.T) {
	for _, condemnedBefore := range []bool{true, false} {
		s := newScene(t)
		s.jump(time.Second, "run:v:0")
		if condemnedBefore {
			s.w.Condemn()
		}
		s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0")) // another redlockd was quicker than we
		s.node = s.node.stepping(s.now, -time.Second)
		s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
		if !condemnedBefore {
			s.w.Condemn()
		}
		s.w.Retracted("run:v:")
		if vouch, due := s.w.Condemned(); !due || vouch != "run:v2:" {
			t.Fatalf("%q %v", vouch, due)
		}
		s.wantUnvouched(nil, Unreached)
		s.w.Retracted("run:v2:")
		s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
		s.wantUnvouched(nil, Forgetful)
		s.wantVotes(false, s.see(s.w.Trust(), "run:v3:0"))
		s.wantVotes(true, s.see(s.w.Trust(), "run:v3:0"))
	}
	// Without another step, what was taught meanwhile is good.
	s := newScene(t)
	s.jump(time.Second, "run:v:0")
	s.w.Condemn()
	s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
	s.w.Retracted("run:v:")
	s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
	s.wantVotes(true, s.see(s.w.Trust(), "run:v2:0"))
	// An answer that nobody waits for changes nothing.
	s.w.Retracted("run:v:")
	s.w.Retracted("")
	s.wantVotes(true, s.see(s.w.Trust(), "run:v2:0"))
	s.jump(time.Second, "run:v2:0")
	s.w.Retracted("run:v2:")
	s.wantUnvouched(nil, Unreached)
}

// It was we who stood still: the same mark vouches again, but not for what was in flight.
func TestP4Forgive(t *testing.T) {
	s := newScene(t)
	before := s.w.Trust()
	s.jump(time.Second, "run:v:0")
	s.w.Forgive()
	s.wantUnvouched(errPaused, Unreached) // P11: not to be taken for a node that forgot
	s.wantVotes(false, s.see(before, "run:v:0"))
	s.wantVotes(false, s.see(before, "run:v:0"))
	s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))

	s.jump(time.Second, "run:v:0")
	s.w.Condemn()
	s.w.Forgive() // too late
	if _, due := s.w.Condemned(); !due {
		t.Fatal("a node that was condemned is forgiven")
	}
	calm := newScene(t)
	trust := calm.w.Trust()
	calm.w.Forgive()
	calm.w.Condemn()
	calm.wantVotes(true, calm.see(trust, "run:v:0")) // nothing to forgive

	lost := newScene(t)
	lost.jump(time.Second, "run:v:0")
	lost.w.Forgive()
	_ = lost.see(lost.w.Trust(), "")
	lost.wantUnvouched(errUnmarked, Forgetful)
}

// A connection to the same instance goes on where the one before it ended.
func TestP4NewWatchOfTheSameInstance(t *testing.T) {
	s := newScene(t)
	before := s.w.Trust()
	s.w = NewWatch("run", s.w)
	s.wantUnvouched(errUnread, Unreached)
	s.wantVotes(false, s.see(before, "run:v:0"))
	s.wantVotes(true, s.see(s.w.Trust(), "run:v:0"))

	s.w = NewWatch("run", s.w)
	s.jump(time.Second, "run:v:0") // while it was not connected
	jumped := s.w.Vouched()
	s.w = NewWatch("run", s.w)
	s.wantUnvouched(jumped, Unreached)
	s.wantVotes(false, s.see(s.w.Trust(), "run:v2:0"))
	if _, _, open := s.w.Jumped(); !open {
		t.Fatal("forgotten with the connection")
	}
	s.w.Condemn()
	s.w = NewWatch("run", s.w)
	if vouch, due := s.w.Condemned(); !due || vouch != "run:v:" {
		t.Fatalf("%q %v", vouch, due)
	}
	s.w.Retracted("run:v:")
	s.w = NewWatch("run", s.w)
	s.wantVotes(false, s.see(s.w.Trust(), "run:v:0"))
	s.wantUnvouched(nil, Forgetful)
	s.wantVotes(false, s.see(s.w.Trust(), "run:v3:0"))
	s.wantVotes(true, s.see(s.w.Trust(), "run:v3:0"))
}

// Another instance, or one that does not say which it is, begins from nothing.
func TestP4NewWatchOfAnotherInstance(t *testing.T) {
	for _, ids := range [][2]string{{"run", "other"}, {"run", ""}, {"", ""}} {
		before := NewWatch(ids[0], nil)
		s := &scene{T: t, w: before, node: running(0)}
		_ = s.see(Trust{}, "")
		s.jump(time.Second, "")
		s.w = NewWatch(ids[1], before)
		if _, _, jumped := s.w.Jumped(); jumped {
			t.Fatalf("%q after %q: jumped", ids[1], ids[0])
		}
		if _, known := s.w.Clock().Latest(); known {
			t.Fatalf("%q after %q: its clock is known", ids[1], ids[0])
		}
		s.wantUnvouched(errUnread, Unreached)
	}
}

// A take's no always counts: the node has the key. Everything else counts only without doubt.
func TestP2Doubted(t *testing.T) {
	doubt := errors.New("in doubt")
	for op := Take; op <= TopUp; op++ {
		for _, vote := range []Vote{Unknown, Yes, No} {
			a := Answer{Vote: vote, Number: 7}
			got := a.Doubted(op, doubt)
			if op == Take && vote == No {
				if got.Doubt != nil || got.Counted() != No {
					t.Errorf("%v, %v: %+v", op, vote, got)
				}
			} else if got.Doubt != doubt || got.Counted() != Unknown || got.Vote != vote || got.Number != 7 {
				t.Errorf("%v, %v: %+v", op, vote, got)
			}
			if free := a.Doubted(op, nil); free.Doubt != nil || free.Counted() != vote {
				t.Errorf("%v, %v without doubt: %+v", op, vote, free)
			}
		}
	}
}
