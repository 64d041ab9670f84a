package quorum

import (
	"math/rand/v2"
	"testing"
	"time"
)

const us = time.Microsecond

// clockOf is a node's clock in a test: what it shows at any moment of ours.
type clockOf func(ours time.Duration) time.Duration

const since1970 = 1_700_000_000 * time.Second

// running ppm faster than ours.
func running(ppm float64) clockOf {
	return func(ours time.Duration) time.Duration {
		return since1970 + ours + time.Duration(float64(ours)*ppm/1e6)
	}
}

// stepping by d at the moment at.
func (c clockOf) stepping(at, d time.Duration) clockOf {
	return func(ours time.Duration) time.Duration {
		if ours >= at {
			return c(ours) + d
		}
		return c(ours)
	}
}

// read the clock: asked at sent, it answers after out, and the answer takes back.
func (c clockOf) read(sent, out, back time.Duration) Reading {
	return Reading{sent, sent + out + back, c(sent + out).Truncate(us)} // as TIME does
}

// seen is when readings every interval, each with round trips of rtt, first show a step; false if not until end.
func (c clockOf) seen(interval, rtt, end time.Duration) (time.Duration, bool) {
	var known NodeClock
	for now := time.Second; now < end; now += interval {
		r := c.read(now, rtt/2, rtt/2)
		if _, ok := known.Observe(r); !ok {
			return r.Received, true
		}
	}
	return 0, false
}

func TestP2AReadingIsAnInterval(t *testing.T) {
	ahead := Reading{Sent: 10 * ms, Received: 14 * ms, Node: 100 * ms}.ahead()
	if want := (Shift{86 * ms, 90*ms + us}); ahead != want {
		t.Fatalf("%v, want %v", ahead, want)
	}
	moved := Shift{86 * ms, 90 * ms}.since(Shift{10 * ms, 11 * ms})
	if want := (Shift{75 * ms, 80 * ms}); moved != want {
		t.Fatalf("%v, want %v", moved, want)
	}
	for d, want := range map[time.Duration]bool{74 * ms: true, 75 * ms: false, 80 * ms: false, 90 * ms: false} {
		if moved.Beyond(d) != want || (Shift{-80 * ms, -75 * ms}).Beyond(d) != want {
			t.Errorf("beyond %v: %v", d, !want)
		}
	}
	if moved.about() != 77500*us || moved.width() != 5*ms {
		t.Errorf("%v wide, about %v", moved.width(), moved.about())
	}
	for _, c := range []struct {
		other Shift
		want  bool
	}{{Shift{70 * ms, 75 * ms}, true}, {Shift{80 * ms, 99 * ms}, true}, {Shift{76 * ms, 77 * ms}, true},
		{Shift{70 * ms, 75*ms - 1}, false}, {Shift{80*ms + 1, 90 * ms}, false}} {
		if moved.overlaps(c.other) != c.want || c.other.overlaps(moved) != c.want {
			t.Errorf("overlaps %v: %v", c.other, !c.want)
		}
	}
}

// A step is seen at the next reading if it is more than the slack and both readings' widths; never if it is
// less than the slack.
func TestP4StepsAgainstRoundTrips(t *testing.T) {
	for _, rtt := range []time.Duration{100 * us, 2 * ms, 40 * ms, 300 * ms} {
		for _, size := range []time.Duration{ms, 3 * ms, 5 * ms, 50 * ms, 500 * ms, 700 * ms, 3 * time.Second, time.Hour} {
			for _, step := range []time.Duration{size, -size} {
				at := 10 * time.Second
				seen, ok := running(0).stepping(at, step).seen(500*ms, rtt, 60*time.Second)
				next := at + rtt + rtt/2 + 500*ms
				switch must := size > clockSlack+2*rtt+(500*ms+2*rtt)/clockRate; {
				case must && (!ok || seen < at || seen > next):
					t.Errorf("step by %v, round trips of %v: seen %v at %v", step, rtt, ok, seen)
				case size <= clockSlack && ok:
					t.Errorf("step by %v, round trips of %v: taken for one", step, rtt)
				}
			}
		}
	}
}

// Once seen, a step stays one, however often the clock is read; what the Shift says holds the true movement.
func TestP4AStepIsNoNewBaseline(t *testing.T) {
	node := running(0).stepping(5*time.Second, time.Second)
	var known NodeClock
	for now := time.Duration(0); now < 20*time.Second; now += 100 * ms {
		moved, ok := known.Observe(node.read(now, 200*us, 300*us))
		if after := now >= 5*time.Second; ok == after {
			t.Fatalf("at %v: %v", now, ok)
		}
		if !ok && (moved.Low > time.Second || moved.High < time.Second || moved.width() > 2*ms) {
			t.Fatalf("at %v: moved by %v to %v", now, moved.Low, moved.High)
		}
	}
}

// What slow answers hide while they are slow is seen when answers are quick again.
func TestP4AStepAmongSlowAnswersIsSeenAfterwards(t *testing.T) {
	for _, step := range []time.Duration{300 * ms, -300 * ms} {
		node := running(-20).stepping(10*time.Second, step)
		var known NodeClock
		seen := false
		for now := time.Second; now < 20*time.Second && !seen; now += 250 * ms {
			rtt := ms
			if now > 5*time.Second && now < 15*time.Second {
				rtt = 400 * ms
			}
			_, ok := known.Observe(node.read(now, rtt/2, rtt/2))
			seen = !ok
			if seen && now < 10*time.Second {
				t.Fatalf("seen at %v, before it was there", now)
			}
		}
		if !seen {
			t.Errorf("a step by %v between two slow answers is never seen", step)
		}
	}
}

func TestP4AClockThatStandsStill(t *testing.T) {
	frozen := func(time.Duration) time.Duration { return since1970 }
	if seen, ok := clockOf(frozen).seen(500*ms, ms, time.Minute); !ok || seen > time.Second+502*ms {
		t.Errorf("seen %v at %v", ok, seen)
	}
	if seen, ok := clockOf(frozen).seen(ms, 100*us, time.Minute); !ok || seen > time.Second+10*ms {
		t.Errorf("read all the time: seen %v at %v", ok, seen)
	}
}

// A clock that runs 2 % fast would end locks before their padding covers it.
func TestP4AClockThatRunsWrong(t *testing.T) {
	for _, ppm := range []float64{20_000, -20_000, 10_000, -10_000} {
		for _, interval := range []time.Duration{5 * ms, 100 * ms, 500 * ms} {
			seen, ok := running(ppm).seen(interval, ms, time.Minute)
			if !ok || seen > 2*time.Second+20*ms {
				t.Errorf("%v ppm, read every %v: seen %v at %v", ppm, interval, ok, seen)
			}
		}
	}
}

// A healthy clock is never taken for one that jumped.
func TestP4AHealthyClock(t *testing.T) {
	for _, ppm := range []float64{500, -500, 1000, -1000} {
		if at, seen := running(ppm).seen(500*ms, ms, 6*time.Hour); seen {
			t.Errorf("%v ppm: a step at %v", ppm, at)
		}
		if at, seen := running(ppm).seen(ms, 100*us, 2*time.Minute); seen {
			t.Errorf("%v ppm, read all the time: a step at %v", ppm, at)
		}
	}
}

// schedule is when a clock is read, and how long the ways take: quick, slow or both at random.
func schedule(random *rand.Rand, n int, ask func(sent, out, back time.Duration)) {
	now, slow := time.Duration(0), random.IntN(3)
	up := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	for range n {
		way := 300 * us
		if slow == 2 || slow == 1 && random.IntN(10) == 0 {
			way = time.Second
		}
		out, back := up(way), up(way)
		ask(now, out, back)
		now += out + back
		switch random.IntN(20) {
		case 0:
			now += up(time.Minute)
		case 1, 2, 3, 4, 5:
			now += up(time.Second)
		default:
			now += up(5 * ms)
		}
		if random.IntN(200) == 0 {
			slow = random.IntN(3)
		}
	}
}

// Law: a clock whose rate is within 0.1 % of ours, and changes as it likes within that, is never a step, whenever it is
// read and however long the ways take.
func TestP4NoScheduleMakesAHealthyClockJump(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var known NodeClock
		gained, last := time.Duration(0), time.Duration(0)
		node := func(now time.Duration) time.Duration { // asked in the order of time
			gained += time.Duration(float64(now-last) * (random.Float64()*2 - 1) * 1e-3)
			last = now
			return since1970 + now + gained
		}
		if seed%4 == 0 { // at the ends of what is healthy
			node = running(1000 - 2000*float64(seed/4%2))
		}
		schedule(random, 2000, func(sent, out, back time.Duration) {
			moved, ok := known.Observe(clockOf(node).read(sent, out, back))
			if !ok {
				t.Fatalf("seed %d: at %v moved by %v to %v", seed, sent, moved.Low, moved.High)
			}
		})
	}
}

// Law: between any two readings that were accepted, a clock has gained or lost no more than a two-hundredth of the time between
// them, the slack, and what the two readings left open. That is less than the drift that locks are padded with. The
// adversary moves its clock as far as it is let, at moments and in directions of its choice.
func TestP4NoClockCreepsBeyondItsAllowance(t *testing.T) {
	type instant struct {
		Reading
		ahead time.Duration // in truth
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		var known NodeClock
		var accepted []instant
		ahead, most := time.Duration(0), time.Duration(0)
		schedule(random, 400, func(sent, out, back time.Duration) {
			reading := func(by time.Duration) Reading {
				return Reading{sent, sent + out + back, since1970 + sent + out + ahead + by}
			}
			take := func(by time.Duration) bool {
				try := known
				_, ok := try.Observe(reading(by))
				return ok
			}
			// The furthest step that is accepted, by halving.
			low, high := time.Duration(0), time.Hour
			sign := time.Duration(1)
			if seed%3 == 1 || seed%3 == 2 && random.IntN(8) < 4 {
				sign = -1
			}
			for high-low > us {
				if mid := (low + high) / 2; take(sign * mid) {
					low = mid
				} else {
					high = mid
				}
			}
			if seed%2 == 1 && random.IntN(4) > 0 {
				low = 0 // it waits for its moment
			}
			if !take(sign * low) {
				return
			}
			known.Observe(reading(sign * low))
			ahead += sign * low
			accepted = append(accepted, instant{reading(0), ahead})
		})
		for j, b := range accepted {
			for _, a := range accepted[:j] {
				gained := max(b.ahead-a.ahead, a.ahead-b.ahead)
				open := a.Received - a.Sent + b.Received - b.Sent + 2*us
				span := b.Received - a.Sent
				if gained > span/200+2*ms+open {
					t.Fatalf("seed %d: moved by %v within %v, of which readings left %v open", seed, gained, span, open)
				}
				if gained-open > Drift(span) {
					t.Fatalf("seed %d: moved by %v within %v: more than locks are padded with", seed, gained, span)
				}
				most = max(most, gained-open)
			}
		}
		if most < 2*ms {
			t.Fatalf("seed %d: the adversary got only %v", seed, most)
		}
	}
}
