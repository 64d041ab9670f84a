package quorumtest

import "time"

// clock of a node. It agrees with the true time until it is told otherwise.
type clock struct {
	true  func() time.Time
	base  time.Time // true, when the clock was last told something
	shown time.Time // by the clock, at base
	rate  float64
}

func newClock(true func() time.Time) clock {
	now := true()
	return clock{true: true, base: now, shown: now, rate: 1}
}

// wall is time.Now without its monotonic part: all differences below are those of the readings.
func wall() time.Time { return time.Now().Round(0) }

func (c *clock) now() time.Time {
	gone := c.true().Sub(c.base)
	if c.rate != 1 { // else exact: a float holds nanoseconds for a hundred days only
		gone = time.Duration(float64(gone) * c.rate)
	}
	return c.shown.Add(gone)
}

// turn the clock: by step now, and from now on it runs at rate.
func (c *clock) turn(step time.Duration, rate float64) {
	c.base, c.shown, c.rate = c.true(), c.now().Add(step), rate
}

// Step moves the node's clock: keys expire earlier if d is positive, later if it is negative.
func (n *Node) Step(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.turn(d, n.clock.rate)
}

// Rate lets the node's clock run r times as fast from now on: 1.02 is 2 % fast, 0 stands.
func (n *Node) Rate(r float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.turn(0, r)
}

// Clock is the time on the node's clock.
func (n *Node) Clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock.now()
}
