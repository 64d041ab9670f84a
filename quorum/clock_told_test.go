package quorum

import (
	"math/rand/v2"
	"testing"
	"time"
)

// observed is a clock that was read every interval from one second on, until end.
func observed(node clockOf, interval, rtt, end time.Duration) *NodeClock {
	var c NodeClock
	for now := time.Second; now < end; now += interval {
		c.Observe(node.read(now, rtt/2, rtt/2))
	}
	return &c
}

// P9: what the node's clock may say when it carries out a request that takes no longer than the last reading, twice.
func TestP9Expect(t *testing.T) {
	var c NodeClock
	c.Observe(Reading{Sent: 10 * time.Second, Received: 10*time.Second + 4*ms, Node: since1970})
	low, high := c.Expect(11 * time.Second)
	// Carried out at once, read when the answer was about to arrive; and carried out last, read when the question was sent.
	if want := since1970 + 996*ms - (4980*us + 2*ms); low != want {
		t.Errorf("low by %v", low-want)
	}
	if want := since1970 + time.Second + (5*ms + 2*ms) + 8*ms; high != want {
		t.Errorf("high by %v", high-want)
	}
}

// Law: a healthy clock is always within, however often it was read and whatever took how long; one that jumped by
// more than is left open never is.
func TestP9ExpectLaw(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 5))
		node := running(random.Float64()*2000 - 1000)
		var c NodeClock
		schedule(random, 100, func(sent, out, back time.Duration) {
			r := node.read(sent, out, back)
			c.Observe(r)
			asked := r.Received + time.Duration(random.Int64N(int64(time.Second)))
			low, high := c.Expect(asked)
			done := asked + time.Duration(random.Int64N(int64(2*(out+back)+1)))
			if at := node(done); at < low || at > high {
				t.Fatalf("seed %d: %v is not within %v and %v", seed, at-low, 0, high-low)
			}
			open := 3*(out+back) + 2*tolerated(asked-sent) + ms
			for _, step := range []time.Duration{open, -open} {
				if at := node(done) + step; at >= low && at <= high {
					t.Fatalf("seed %d: a step by %v is within", seed, step)
				}
			}
		})
	}
}

func TestDriftIsTold(t *testing.T) {
	for _, ppm := range []float64{0, 50, -50, 500, -500} {
		if got := observed(running(ppm), 500*ms, ms, time.Hour).Drift(); got < ppm-1 || got > ppm+1 {
			t.Errorf("%v ppm: %v", ppm, got)
		}
		if got := observed(running(ppm), 500*ms, ms, 10*time.Second).Drift(); got != 0 {
			t.Errorf("%v ppm after ten seconds: %v", ppm, got)
		}
	}
	if got := new(NodeClock).Drift(); got != 0 {
		t.Errorf("nothing was read: %v", got)
	}
}

// The most exact reading of the last seconds is told, the latest one, and none if there is none.
func TestBestAndLatest(t *testing.T) {
	var c NodeClock
	if _, ok := c.Best(); ok {
		t.Error("the best of none")
	}
	if _, ok := c.Latest(); ok {
		t.Error("the latest of none")
	}
	node := running(0)
	for i, rtt := range []time.Duration{40 * ms, 2 * ms, 30 * ms} {
		c.Observe(node.read(time.Second+time.Duration(i)*100*ms, rtt/2, rtt/2))
	}
	if best, ok := c.Best(); !ok || best.Sent != 1100*ms {
		t.Errorf("%+v", best)
	}
	if latest, ok := c.Latest(); !ok || latest.Sent != 1200*ms {
		t.Errorf("%+v", latest)
	}
	c.Observe(node.read(2200*ms, 10*ms, 10*ms))
	if best, _ := c.Best(); best.Sent != 1100*ms {
		t.Errorf("a moment later: %+v", best)
	}
	for now := 2300 * ms; now < 10*time.Second; now += 100 * ms {
		c.Observe(node.read(now, 10*ms, 10*ms))
	}
	if best, _ := c.Best(); best.Sent < 7*time.Second {
		t.Errorf("long ago: %+v", best)
	}
}

// A step is not the latest reading, but where what was noted of it begins.
func TestP4Anew(t *testing.T) {
	if fresh := new(NodeClock).Anew(); fresh != (NodeClock{}) {
		t.Errorf("%+v", fresh)
	}
	node := running(0).stepping(5*time.Second, time.Second)
	c := observed(node, 500*ms, ms, 5*time.Second+ms)
	if latest, _ := c.Latest(); latest.Sent != 4500*ms {
		t.Errorf("%+v", latest)
	}
	fresh := c.Anew()
	if latest, ok := fresh.Latest(); !ok || latest.Sent != 5*time.Second {
		t.Errorf("%+v", latest)
	}
	if moved, ok := fresh.Observe(node.read(6*time.Second, ms, ms)); !ok {
		t.Errorf("moved by %v", moved)
	}
}

// By wall clocks, to the millisecond that a mark's offset is cut to and what the reading leaves open.
func TestP4WallShift(t *testing.T) {
	const wall = 500 * time.Second // ahead of our clock
	r := Reading{Sent: 10 * time.Second, Received: 10*time.Second + 4*ms, Node: 600 * time.Second}
	got := WallShift(Mark{RunID: "run", Nonce: "v", Offset: 30 * time.Second}, r, wall)
	if want := (Shift{60*time.Second - 5*ms, 60*time.Second + ms + us}); got != want {
		t.Errorf("%v to %v, want %v to %v", got.Low, got.High, want.Low, want.High)
	}
}
