package quorum

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const (
	testLimit   = 500 * ms
	testLongest = time.Hour
	begunAt     = 10 * time.Second
	// taughtFrom is when votes that were in flight have been carried out (P6), with 1 % and 2 ms of drift.
	taughtFrom = begunAt + 507*ms
	longOver   = begunAt + time.Hour + 36*time.Second + 2*ms
)

// begun is a lesson for node 0 of n that has begun.
func begun(n int, complete bool) *Lesson {
	l := NewLesson(n, 0, testLimit, testLongest)
	l.Begun(begunAt, complete)
	return l
}

// others are the standings of a fleet whose node 0 forgot.
func others(standings ...Standing) []Standing { return append([]Standing{Forgetful}, standings...) }

func wantStep(t *testing.T, got Step, do Do, nodes ...int) {
	t.Helper()
	if got.Do != do || !slices.Equal(got.Nodes, nodes) {
		t.Fatalf("%+v, want %v %v", got, do, nodes)
	}
}

func wantWait(t *testing.T, got Step, until time.Duration) {
	t.Helper()
	if got.Do != Wait || got.Until != until || got.Why == "" {
		t.Fatalf("%+v, want to wait until %v", got, until)
	}
}

// every calls f with all standings of n nodes.
// lastStanding is the one with the highest number.
const lastStanding = Trusted

func every(n int, f func([]Standing)) {
	standings := make([]Standing, n)
	for {
		f(slices.Clone(standings))
		i := 0
		for ; i < n && standings[i] == lastStanding; i++ {
			standings[i] = Unreached
		}
		if i == n {
			return
		}
		standings[i]++
	}
}

func count3(standings []Standing) (trusted int) {
	for _, s := range standings {
		if s == Trusted {
			trusted++
		}
	}
	return trusted
}

// TestP5ToP10FirstSteps tries all standings of up to five nodes, before begin, during the wait for rounds in flight and right
// after, against the rules in words.
func TestP5ToP10FirstSteps(t *testing.T) {
	for n := 1; n <= 5; n++ {
		every(n, func(standings []Standing) {
			for node := range n {
				fresh, taught := NewLesson(n, node, testLimit, testLongest), NewLesson(n, node, testLimit, testLongest)
				taught.Begun(begunAt, false)
				trusted := count3(standings)
				allForgot := !slices.Contains(standings, Unreached) && trusted == 0 && (n == 1 || !slices.Contains(standings, Spoilt))
				at := fmt.Sprintf("node %d of %v", node, standings)
				first, early, right := fresh.Next(begunAt, standings), taught.Next(taughtFrom-1, standings), taught.Next(taughtFrom, standings)
				switch {
				case standings[node] == Trusted || allForgot:
					for _, s := range []Step{first, early, right} {
						if s.Do != Stop || s.Why == "" {
							t.Fatalf("%s: %+v instead of an end", at, s)
						}
					}
				case first.Do != Begin:
					t.Fatalf("P5, %s: %+v", at, first)
				case early.Do != Wait || early.Until != taughtFrom:
					t.Fatalf("P6, %s: %+v", at, early)
				case trusted >= n-(n/2+1)+1:
					if right.Do != Scan || len(right.Nodes) != n-(n/2+1)+1 {
						t.Fatalf("P7, %s: %+v", at, right)
					}
					for k, i := range right.Nodes {
						if i == node || standings[i] != Trusted || slices.Contains(right.Nodes[:k], i) {
							t.Fatalf("P7, %s: %+v", at, right)
						}
					}
				default:
					if right.Do != Wait || right.Until != longOver {
						t.Fatalf("P10, %s: %+v", at, right)
					}
				}
			}
		})
	}
}

// Every majority that the node was part of had a member among its teachers: so many, and no fewer.
func TestP7Teachers(t *testing.T) {
	for n := 1; n <= 9; n++ {
		rest := n/2 + 1 - 1 // of a majority, without the node
		if got := Teachers(n); got+rest <= n-1 || got-1+rest > n-1 {
			t.Errorf("%d nodes: %d teachers", n, got)
		}
	}
}

func TestP6WaitOutIsLongerThanAnyClockMakesIt(t *testing.T) {
	for _, d := range []time.Duration{0, testLimit, testLongest} {
		if got := WaitOut(d); got != d+d/100+2*ms {
			t.Errorf("%v: %v", d, got)
		}
	}
}

func TestP11AllForgot(t *testing.T) {
	for n := 1; n <= 5; n++ {
		every(n, func(standings []Standing) {
			want := true
			for _, s := range standings {
				want = want && (s == Forgetful || s == Spoilt && n == 1)
			}
			if AllForgot(standings) != want {
				t.Fatalf("%v: %v", standings, !want)
			}
		})
	}
	l := begun(3, false)
	if s := l.Next(longOver, others(Forgetful, Forgetful)); s.Do != Stop {
		t.Fatalf("P11 is the way, not %+v", s)
	}
}

func TestP7TaughtByEnough(t *testing.T) {
	l := begun(5, false)
	all := others(Trusted, Trusted, Trusted, Trusted)
	wantStep(t, l.Next(taughtFrom, all), Scan, 1, 2, 3)
	l.Scanned(2)
	wantStep(t, l.Next(taughtFrom, all), Scan, 1, 3)
	l.Scanned(1)
	// What was scanned stays so, whatever becomes of that node.
	wantStep(t, l.Next(taughtFrom, others(Unreached, Forgetful, Trusted, Trusted)), Scan, 3)
	l.Scanned(4)
	wantStep(t, l.Next(taughtFrom, others(Unreached, Unreached, Unreached, Unreached)), Vouch)
}

// A scan that failed counts for nothing; another node is asked in its place, and it a little later.
func TestP7AFailedScanIsTriedAgain(t *testing.T) {
	l := begun(3, false)
	both := others(Trusted, Trusted)
	now := taughtFrom + ms
	wantStep(t, l.Next(now, both), Scan, 1, 2)
	l.Scanned(2)
	l.ScanFailed(1, now)
	wantWait(t, l.Next(now, both), now+rescan)
	wantWait(t, l.Next(now+rescan-1, both), now+rescan)
	wantStep(t, l.Next(now+rescan, both), Scan, 1)

	five := begun(5, false)
	all := others(Trusted, Trusted, Trusted, Trusted)
	five.ScanFailed(1, now)
	wantStep(t, five.Next(now, all), Scan, 2, 3, 4)
	five.ScanFailed(4, now+100*ms)
	five.ScanFailed(3, now+200*ms)
	wantWait(t, five.Next(now+300*ms, all), now+rescan) // the first that may be tried again
}

// A node that never ends its scan does not keep another out for ever.
func TestP10ATeacherThatAlwaysFails(t *testing.T) {
	failing := func(l *Lesson, now time.Duration, standings []Standing) Step {
		for range 10 {
			s := l.Next(now, standings)
			switch s.Do {
			case Scan:
				for _, i := range s.Nodes {
					if i == 1 {
						l.ScanFailed(i, now)
					} else {
						l.Scanned(i)
					}
				}
			case Wait:
				now = s.Until
			default:
				return s
			}
			if now > taughtFrom+time.Minute && now < longOver {
				now = longOver - ms
			}
		}
		return l.Next(longOver, standings)
	}
	for name, standings := range map[string][]Standing{
		"others teach": others(Trusted, Trusted), "too few": others(Trusted, Unreached),
	} {
		admitted, complete := begun(3, false), begun(3, true)
		admitted.Admit()
		wantStep(t, failing(admitted, taughtFrom, standings), Vouch)
		wantStep(t, failing(complete, taughtFrom, standings), Vouch)
		if s := failing(begun(3, false), taughtFrom, standings); s.Do != Vouch {
			t.Errorf("%s: %+v after the longest lock has ended", name, s)
		}
	}
}

func TestP10TooFewTeachers(t *testing.T) {
	l := begun(3, false)
	few := others(Trusted, Unreached)
	wantWait(t, l.Next(taughtFrom, few), longOver)
	wantWait(t, l.Next(longOver-1, few), longOver)
	// The other comes back: the fast way from here on.
	wantStep(t, l.Next(taughtFrom+time.Minute, others(Trusted, Trusted)), Scan, 1, 2)
	l.Scanned(1)
	wantWait(t, l.Next(taughtFrom+2*time.Minute, few), longOver)
	wantStep(t, l.Next(longOver, few), Vouch)
}

// The operator's word: what can be copied is, and no more is waited for than rounds in flight.
func TestP10Admit(t *testing.T) {
	l := NewLesson(5, 0, testLimit, testLongest)
	l.Admit()
	few := others(Trusted, Unreached, Forgetful, Trusted)
	wantStep(t, l.Next(begunAt, few), Begin)
	l.Begun(begunAt, false)
	wantWait(t, l.Next(taughtFrom-1, few), taughtFrom)
	wantStep(t, l.Next(taughtFrom, few), Scan, 1, 4)
	l.Scanned(1)
	l.ScanFailed(4, taughtFrom)
	wantStep(t, l.Next(taughtFrom, few), Vouch)
	wantStep(t, l.Next(taughtFrom+rescan, few), Vouch) // one try is enough

	forgot := begun(3, false)
	forgot.Admit()
	wantStep(t, forgot.Next(taughtFrom, others(Forgetful, Forgetful)), Vouch)
	wantStep(t, forgot.Next(taughtFrom, []Standing{Trusted, Forgetful, Forgetful}), Stop)
}

// A node that kept everything is taught all the same, and not kept waiting where that cannot be.
func TestP13Complete(t *testing.T) {
	l := begun(3, true)
	wantWait(t, l.Next(taughtFrom-1, others(Trusted, Trusted)), taughtFrom)
	wantStep(t, l.Next(taughtFrom, others(Trusted, Trusted)), Scan, 1, 2)
	l.ScanFailed(1, taughtFrom)
	l.Scanned(2)
	wantWait(t, l.Next(taughtFrom, others(Trusted, Trusted)), taughtFrom+rescan) // enough can teach it
	wantStep(t, begun(3, true).Next(taughtFrom, others(Trusted, Unreached)), Scan, 1)
	wantStep(t, begun(3, true).Next(taughtFrom, others(Unreached, Unreached)), Vouch)
	wantStep(t, begun(3, true).Next(taughtFrom, others(Forgetful, Forgetful)), Stop) // P11
}

// Law: whatever the others do meanwhile, the node is vouched for only after it was begun with and rounds in flight have ended,
// and if enough others were scanned since, or the operator says so, or it kept everything, or the longest lock has
// ended; it is scanned for only then, too, from others that are vouched for; and a lesson does not go on for ever.
func TestP5ToP13Law(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 3))
		n := 1 + random.IntN(5)
		l := NewLesson(n, n-1, testLimit, testLongest)
		now, began := time.Duration(1+random.Int64N(int64(time.Hour))), time.Duration(-1)
		complete, admitted, scanned, over := random.IntN(4) == 0, false, map[int]bool{}, false
		for range 200 {
			standings := make([]Standing, n)
			for i := range standings {
				standings[i] = Standing(random.IntN(int(lastStanding) + 1))
			}
			standings[n-1] = Standing(random.IntN(int(Trusted)))
			if random.IntN(100) == 0 {
				l.Admit()
				admitted = true
			}
			s := l.Next(now, standings)
			waited := began >= 0 && now >= began+507*ms
			switch s.Do {
			case Begin:
				if began >= 0 {
					t.Fatalf("seed %d: begun twice", seed)
				}
				now += 10 * ms
				began = now
				l.Begun(now, complete)
			case Wait:
				if s.Until <= now {
					t.Fatalf("seed %d: waits for what was before", seed)
				}
				now += min(s.Until-now, time.Duration(random.Int64N(int64(time.Hour))))
			case Scan:
				if !waited || len(s.Nodes) == 0 {
					t.Fatalf("seed %d: P6: %+v, %v after begin", seed, s, now-began)
				}
				for _, i := range s.Nodes {
					if i == n-1 || standings[i] != Trusted || scanned[i] {
						t.Fatalf("seed %d: P7: %+v of %v", seed, s, standings)
					}
					if random.IntN(2) == 0 {
						l.Scanned(i)
						scanned[i] = true
					} else {
						l.ScanFailed(i, now)
					}
				}
			case Vouch:
				if !waited || len(scanned) < n-(n/2+1)+1 && !admitted && !complete && now < began+longOver-begunAt {
					t.Fatalf("seed %d: vouched for %v after begin, taught by %d of %d others", seed, now-began, len(scanned), n-1)
				}
				over = true
			case Stop:
				if !AllForgot(standings) || admitted {
					t.Fatalf("seed %d: %+v with %v", seed, s, standings)
				}
			}
			if over {
				break
			}
		}
		if !over && began >= 0 && now > began+longOver {
			t.Fatalf("seed %d: never vouched for", seed)
		}
	}
}
