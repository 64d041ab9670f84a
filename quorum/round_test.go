package quorum

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func newTake(n int) *Round {
	r := NewRound(&Request{Op: Take, Key: []byte("k"), Token: []byte("t"), TTL: time.Second, Life: Pad(time.Second)},
		n, 100*ms, time.Hour)
	return &r
}

func at(a Answer, now time.Duration) Answer {
	a.At = now
	return a
}

// who the amends are for.
func targets(amends []Amend) (nodes []int) {
	for _, a := range amends {
		nodes = append(nodes, a.Node)
	}
	return nodes
}

func wantTargets(t *testing.T, amends []Amend, want ...int) {
	t.Helper()
	got := targets(amends)
	if len(got) != len(want) {
		t.Fatalf("amends for nodes %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("amends for nodes %v, want %v", got, want)
		}
	}
}

// A take that failed is taken back at once on the nodes that said yes, and on no other.
func TestR17FailedTakeIsTakenBack(t *testing.T) {
	r := newTake(5)
	wantTargets(t, r.Hear(0, at(yes, 101*ms)))
	wantTargets(t, r.Hear(1, at(no, 101*ms)))
	wantTargets(t, r.Hear(2, at(no, 101*ms)))
	amends := r.Hear(3, at(no, 102*ms))
	wantTargets(t, amends, 0)
	if a := amends[0]; a.Req.Op != TakeBack || string(a.Req.Key) != "k" || string(a.Req.Token) != "t" {
		t.Fatalf("%+v", a.Req)
	}
	// The fifth says yes when all is over.
	wantTargets(t, r.Hear(4, at(yes, 150*ms)), 4)
}

// A yes that comes after the node was given up is taken back too; after a grant it is welcome.
func TestR17LateYes(t *testing.T) {
	late := Answer{Trace: Awaited, Err: errors.New("no answer")}
	failed := newTake(3)
	failed.Hear(0, at(no, 101*ms))
	failed.Hear(1, at(late, 150*ms))
	wantTargets(t, failed.Hear(2, at(no, 151*ms)))
	wantTargets(t, failed.Hear(1, at(yes, 400*ms)), 1)
	wantTargets(t, failed.Hear(1, at(yes, 401*ms))) // once

	granted := newTake(3)
	granted.Hear(0, at(yes, 101*ms))
	granted.Hear(1, at(late, 150*ms))
	granted.Hear(2, at(yes, 151*ms))
	wantTargets(t, granted.Hear(1, at(yes, 400*ms)))
}

// A yes that does not count has set the key all the same.
func TestR17DoubtedYesIsTakenBack(t *testing.T) {
	doubted := at(yes, 101*ms)
	doubted.Doubt = errors.New("restarted")
	r := newTake(3)
	r.Hear(0, at(no, 101*ms))
	r.Hear(1, at(no, 101*ms))
	wantTargets(t, r.Hear(2, doubted), 2)
}

// After the attempt's own life the same token may be the next holder's: nothing is taken back.
func TestUndoEndsWithTheLock(t *testing.T) {
	r := newTake(3)
	life := Pad(time.Second)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(no, 101*ms))
	amends := r.Hear(2, at(no, 102*ms))
	wantTargets(t, amends, 0)
	if want := 100*ms + life; amends[0].Until != want {
		t.Fatalf("until %v, want %v", amends[0].Until, want)
	}
	granted := newTake(1)
	granted.Hear(0, at(yes, 101*ms))
	wantTargets(t, granted.Refuse(100*ms+life))
}

// A lost answer proves nothing: what the node may hold is left to its ttl.
func TestUndoOfALostAnswer(t *testing.T) {
	for _, trace := range []Trace{Lost, Nothing} {
		r := newTake(3)
		r.Hear(0, at(no, 101*ms))
		r.Hear(1, Answer{Trace: trace, At: 300 * ms})
		wantTargets(t, r.Hear(2, at(no, 301*ms)))
	}
}

// Whoever set the key later makes it expire later.
func TestUndoLooksAtTheExpiry(t *testing.T) {
	req := &Request{Op: TakeBack, Life: time.Second, SetBy: 100 * ms}
	if most := req.Most(100 * ms); most != time.Second+Drift(0) {
		t.Fatal(most)
	}
	if most := req.Most(600 * ms); most >= time.Second-400*ms {
		t.Fatalf("a lock of the same length taken 100 ms later would be deleted: %v", most)
	}
}

// T2 is read just before the reply: a grant that has become too old is none, and is undone.
func TestR14ConfirmedTooLate(t *testing.T) {
	r := newTake(3)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(yes, 101*ms))
	if ruling, amends := r.Confirm(599*ms, 500*ms); ruling.Verdict != Granted || len(amends) > 0 {
		t.Fatalf("in time: %v %v", ruling.Verdict, amends)
	}
	ruling, amends := r.Confirm(600*ms, 500*ms)
	if ruling.Verdict != Undecided {
		t.Fatalf("too late: %v", ruling.Verdict)
	}
	wantTargets(t, amends, 0, 1)
	wantTargets(t, r.Hear(2, at(yes, 601*ms)), 2)
}

// Release goes again to the nodes that may not have got it, as long as the lock may live there.
func TestR19ReleaseIsRepeated(t *testing.T) {
	r := NewRound(&Request{Op: Release, Key: []byte("k"), Token: []byte("t")}, 5, 100*ms, time.Hour)
	released := Answer{Vote: Yes, Left: 700, At: 101 * ms}
	wantTargets(t, r.Hear(0, Answer{Trace: Nothing, At: 100 * ms}))
	r.Hear(1, released)
	r.Hear(2, released)
	amends := r.Hear(3, released)
	wantTargets(t, amends, 0)
	// It looks at the expiry: what was taken with the same token since expires later.
	if a := amends[0]; a.Req.Op != TakeBack || a.Until != 801*ms || a.Req.Most(101*ms) != 700*ms+spread+Drift(0) {
		t.Fatalf("%+v", a)
	}
	wantTargets(t, r.Hear(4, Answer{Trace: Awaited, At: 150 * ms})) // it has it, in order
	wantTargets(t, r.Hear(4, Answer{Trace: Lost, At: 300 * ms}), 4)

	// Nobody said how long the lock lives: until the longest that there can be has ended.
	none := NewRound(&Request{Op: Release}, 3, 100*ms, time.Hour)
	none.Hear(0, Answer{Trace: Nothing, At: 100 * ms})
	amends = none.Hear(1, Answer{Trace: Nothing, At: 100 * ms})
	wantTargets(t, amends, 0, 1)
	if amends[0].Req.Op != Release || amends[0].Until != 100*ms+Pad(time.Hour) {
		t.Fatalf("%+v", amends[0])
	}
}

// A release that a majority denied is not repeated: there is nothing to release.
func TestR4DeniedReleaseIsNotRepeated(t *testing.T) {
	r := NewRound(&Request{Op: Release}, 3, 100*ms, time.Hour)
	r.Hear(0, Answer{Trace: Nothing, At: 100 * ms})
	r.Hear(1, Answer{Vote: No, Number: Missing, At: 101 * ms})
	wantTargets(t, r.Hear(2, Answer{Vote: No, Number: Missing, At: 101 * ms}))
}

// An extend, an overwrite and a delete replace what was there: nothing to go back to, but judged
// by the clock where they promise time.
func TestR20ExtendIsJudgedLikeATake(t *testing.T) {
	req := &Request{Op: Extend, TTL: time.Second, Life: Pad(time.Second)}
	r := NewRound(req, 3, 100*ms, time.Hour)
	r.Hear(0, at(yes, 101*ms))
	r.Hear(1, at(yes, 101*ms))
	ruling, amends := r.Confirm(600*ms, 500*ms)
	if ruling.Verdict != Undecided || len(amends) > 0 {
		t.Fatalf("%v %v", ruling.Verdict, amends)
	}
}

func TestNoQuorumNamesTheNodes(t *testing.T) {
	r := newTake(3)
	refused := errors.New("connection refused")
	r.Hear(0, Answer{Trace: Nothing, Err: refused})
	r.Hear(1, Answer{Trace: Awaited, Err: errors.New("no answer within 50ms")})
	err := r.explain([]string{"a:1", "b:2", "c:3"})
	const want = "NOQUORUM 0 yes, 0 no, 2 unknown, 1 not waited for of 3 nodes, need 2 (a:1: connection refused; b:2: no answer within 50ms)"
	if err.Error() != want {
		t.Fatalf("%s", err)
	}
	if !errors.Is(err, refused) || strings.Contains(err.Error(), "\n") {
		t.Fatal("not unwrapped, or more than one line")
	}
}

func TestR18Jitter(t *testing.T) {
	for _, c := range []struct {
		chance float64
		want   time.Duration
	}{{0, 100 * ms}, {0.5, 150 * ms}, {0.999999, 200*ms - 1}} {
		if got := Jitter(200*ms, c.chance); got < c.want-ms/10 || got > c.want+ms/10 {
			t.Errorf("%v: %v", c.chance, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	least, most := 50*ms, 2*time.Second
	for failed, want := range []time.Duration{50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, most, most} {
		if got := Backoff(failed, least, most, 1); got != want {
			t.Errorf("after %d: %v, want %v", failed, got, want)
		}
	}
	if got := Backoff(1<<30, least, most, 0); got != most/2 {
		t.Errorf("after very many: %v", got)
	}
}

func TestPatience(t *testing.T) {
	p := Patience{Timeout: 50 * ms, Silence: time.Second}
	for waited, want := range map[time.Duration]Health{0: Up, 199 * ms: Up, 200 * ms: Silent, 999 * ms: Silent, time.Second: Down} {
		if got := p.Judge(waited); got != want {
			t.Errorf("%v: %v, want %v", waited, got, want)
		}
	}
}

// The time in which we stood still ourselves is not held against the nodes.
func TestExcuse(t *testing.T) {
	p := Patience{Timeout: 50 * ms}
	for late, want := range map[time.Duration]time.Duration{0: 0, 5 * ms: 0, 6 * ms: 6 * ms, 50 * ms: 50 * ms, time.Hour: 50 * ms} {
		if got := p.Excuse(late); got != want {
			t.Errorf("%v late: %v, want %v", late, got, want)
		}
	}
}

// A node that keeps answering is waited for, up to the round limit; one that says nothing is not.
func TestR12Due(t *testing.T) {
	p := Patience{Timeout: 50 * ms, Limit: 500 * ms}
	for _, c := range []struct{ sent, heard, want time.Duration }{
		{100 * ms, 0, 150 * ms},        // silent since before
		{100 * ms, 120 * ms, 170 * ms}, // spoke 20 ms later
		{100 * ms, 900 * ms, 600 * ms}, // speaks all the time, but not to us
	} {
		if got := p.Due(c.sent, c.heard); got != c.want {
			t.Errorf("sent %v, heard %v: %v, want %v", c.sent, c.heard, got, c.want)
		}
	}
}

// An answer that is heard when our key may have expired already proves nothing: the key may be another's.
func TestUndoOfAYesHeardTooLate(t *testing.T) {
	r := newTake(3)
	r.Hear(0, at(no, 101*ms))
	r.Hear(1, at(Answer{Trace: Awaited, Err: errors.New("late")}, 150*ms))
	r.Hear(2, at(no, 151*ms))
	wantTargets(t, r.Hear(1, at(yes, 100*ms+time.Second)))
	r = newTake(3)
	r.Hear(0, at(no, 101*ms))
	r.Hear(1, at(Answer{Trace: Awaited, Err: errors.New("late")}, 150*ms))
	r.Hear(2, at(no, 151*ms))
	wantTargets(t, r.Hear(1, at(yes, 99*ms+time.Second)), 1)
}

// Whatever a node says of the remaining time, a release is not repeated for longer than a lock can live.
func TestR19RepeatIsBounded(t *testing.T) {
	r := NewRound(&Request{Op: Release}, 3, 100*ms, time.Hour)
	r.Hear(0, Answer{Trace: Nothing, At: 100 * ms})
	r.Hear(1, Answer{Vote: Yes, Left: Forever, At: 101 * ms})
	amends := r.Hear(2, Answer{Vote: Yes, Left: 5, At: 101 * ms})
	wantTargets(t, amends, 0)
	if amends[0].Until != 101*ms+Pad(time.Hour) {
		t.Fatalf("%+v", amends[0])
	}
}

// A take that may find its token is undone by the instant that the node has told, on each node that accepted; and never on a node that may
// have copied it, where there is none.
func TestR17OwnIsTakenBackByStamp(t *testing.T) {
	req := &Request{
		Op: Take, Own: OwnEach, Keys: [][]byte{[]byte("a"), []byte("b")}, Tokens: [][]byte{[]byte("t"), []byte("t")},
		TTL: time.Second, Life: Pad(time.Second),
	}
	r := NewRound(req, 5, 100*ms, time.Hour)
	r.Hear(0, Answer{Vote: Yes, Number: Missing, Stamp: 12345, At: 101 * ms})
	r.Hear(1, Answer{Err: errTaught, At: 101 * ms})
	r.Hear(2, at(no, 101*ms))
	r.Hear(3, at(no, 101*ms))
	amends := r.Hear(4, at(no, 101*ms))
	wantTargets(t, amends, 0)
	if back := amends[0].Req; back.Op != TakeBack || back.Stamp != 12345 || len(back.Keys) != 2 || len(back.Tokens) != 2 {
		t.Fatalf("%+v", back)
	}
}

// A release of many keys is told again, of each of them, to a node that did not answer.
func TestR19ReleaseOfManyIsRepeated(t *testing.T) {
	req := &Request{Op: Release, Keys: [][]byte{[]byte("a"), []byte("b")}, Tokens: [][]byte{[]byte("t"), []byte("u")}}
	r := NewRound(req, 3, 100*ms, time.Hour)
	r.Hear(0, Answer{Vote: Yes, Number: 2, Left: 700, At: 101 * ms})
	r.Hear(1, Answer{Vote: Yes, Number: 2, Left: 650, At: 101 * ms})
	amends := r.Hear(2, Answer{Trace: Lost, Err: errors.New("broken"), At: 102 * ms})
	wantTargets(t, amends, 2)
	if again := amends[0].Req; again.Op != TakeBack || again.Life != 700*ms+spread || len(again.Keys) != 2 || string(again.Tokens[1]) != "u" {
		t.Fatalf("%+v", again)
	}
	// Where no node has released it, the tokens alone must do.
	r = NewRound(req, 3, 100*ms, time.Hour)
	r.Hear(0, Answer{Trace: Lost, Err: errors.New("broken"), At: 102 * ms})
	amends = r.Hear(1, Answer{Trace: Lost, Err: errors.New("broken"), At: 102 * ms})
	wantTargets(t, amends, 0, 1)
	if again := amends[0].Req; again.Op != Release || !again.Each || len(again.Tokens) != 2 {
		t.Fatalf("%+v", again)
	}
}

// What a majority found, not what one node did, says whether a take was of a lock that the token had already.
func TestFoundOfATake(t *testing.T) {
	fresh, again := Answer{Vote: Yes, Number: Missing}, Answer{Vote: Yes, Number: Mine}
	for _, c := range []struct {
		answers []Answer
		want    int64
	}{
		{[]Answer{again, again, fresh}, Mine},
		{[]Answer{again, fresh, fresh}, 0},
		{[]Answer{again, fresh, unknown}, 0},
		{[]Answer{again, unknown, again}, Mine},
	} {
		if r := judge(&Request{Op: Take, Own: OwnEach}, heardAll(c.answers...)); r.Verdict != Granted || r.Number != c.want {
			t.Errorf("%+v: %+v", c.answers, r)
		}
	}
}

// What a round counts as it hears is what stands in its slots, also when a node is heard twice.
func TestVotesAreCountedAsHeard(t *testing.T) {
	answers := []Answer{yes, no, {Vote: Yes, Doubt: errors.New("restarted")}, {Trace: Lost}, {Trace: Awaited}}
	chance := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		n := 1 + chance.IntN(7)
		r := NewRound(&Request{Op: []Op{Take, Release, Get, Delete}[chance.IntN(4)], TTL: time.Second, Life: time.Second}, n, 0, time.Hour)
		for range 2 * n {
			r.Hear(chance.IntN(n), answers[chance.IntN(len(answers))])
			if r.votes != count(r.slots) || r.ruling.Verdict == Open && judge(r.req, r.slots).Verdict != Open {
				t.Fatalf("%+v counted, ruled %v, of %+v", r.votes, r.ruling.Verdict, r.slots)
			}
		}
	}
}
