package quorum

import "time"

// A node whose clock jumps forward expires its keys early, which is as bad as forgetting them (R24). Its clock is read
// behind the requests of every flush, and compared with ours as intervals: nothing is concluded from how long
// an answer took.

const (
	// Between any two readings, however far apart, a clock may gain or lose clockRate (0.5 %) and clockSlack on ours, as far as
	// the readings can tell. That is below Drift, which every lock is padded with (R15). Healthy clocks are within 0.1 %.
	clockRate  = 200 // one part in
	clockSlack = 2 * time.Millisecond
	// clockBaseline is how long readings are compared to find an exact one.
	clockBaseline = time.Second
)

// Reading is one answer to TIME.
type Reading struct {
	Sent, Received time.Duration // our clock before the question was written, and after the answer was read
	Node           time.Duration // the node's clock, since 1970, at some moment between the two
}

// ahead is by how much the node's clock is ahead of ours.
func (r Reading) ahead() Shift {
	return Shift{r.Node - r.Received, r.Node - r.Sent + time.Microsecond} // TIME cuts off what is below a microsecond
}

// Exact says that the reading leaves no more open than a clock may gain at once.
func (r Reading) Exact() bool { return r.Received-r.Sent <= clockSlack }

// Shift is how far a clock has moved, as far as is known: not less than Low, not more than High.
type Shift struct{ Low, High time.Duration }

// about is the middle of it, for people.
func (s Shift) about() time.Duration { return s.Low + (s.High-s.Low)/2 }

func (s Shift) width() time.Duration { return s.High - s.Low }

// since is the movement from an earlier interval to this one.
func (s Shift) since(was Shift) Shift { return Shift{s.Low - was.High, s.High - was.Low} }

// Beyond says that it is certainly more than d, forward or back.
func (s Shift) Beyond(d time.Duration) bool { return s.Low > d || s.High < -d }

func (s Shift) overlaps(o Shift) bool { return s.Low <= o.High && o.Low <= s.High }

// NodeClock is what is known of a node's clock. The zero value knows nothing.
type NodeClock struct {
	// Invariant: what one of all readings so far would show to be a step is one against these two: gain leaves the clock
	// the least room to gain, loss the least to lose. They are not the first ones, since a healthy clock moves by less than
	// it may; and not the latest ones where these took long: what slow answers hide is seen when they are quick again.
	gain, loss Reading

	base   Reading // an exact one, a while ago
	best   Reading // the most exact one since
	first  Reading // the first baseline that was renewed, for the drift
	latest Reading // that was no step
	last   Reading // of all
	known  bool
}

// Observe a reading that was received after all before. ok says that the clock may have run that way, by what all of its readings
// tell; if not, the shift is what it has certainly moved. After a step it is still compared with what it was
// before: whoever has taken note of it begins Anew.
func (c *NodeClock) Observe(r Reading) (moved Shift, ok bool) {
	if !c.known {
		*c = NodeClock{gain: r, loss: r, base: r, best: r, latest: r, last: r, known: true}
		return Shift{}, true
	}
	c.last = r
	now, gain, loss := r.ahead(), c.gain.ahead(), c.loss.ahead()
	if moved = now.since(gain); moved.Low > tolerated(r.Received-c.gain.Sent) {
		return moved, false
	}
	if moved = now.since(loss); moved.High < -tolerated(r.Received-c.loss.Sent) {
		return moved, false
	}
	if now.High-gain.High <= (r.Sent-c.gain.Sent)/clockRate {
		c.gain = r
	}
	if now.Low-loss.Low >= -(r.Sent-c.loss.Sent)/clockRate {
		c.loss = r
	}
	c.keep(r)
	return moved, true
}

// witness is the reading against which the clock has moved.
func (c *NodeClock) witness(moved Shift) Reading {
	if moved.Low > 0 {
		return c.gain
	}
	return c.loss
}

// keep the reading for Best and Drift.
func (c *NodeClock) keep(r Reading) {
	c.latest = r
	if r.ahead().width() <= c.best.ahead().width() {
		c.best = r
	}
	if r.Received-c.base.Received >= clockBaseline {
		c.base, c.best = c.best, r
		if c.first == (Reading{}) {
			c.first = c.base
		}
	}
}

// Anew is a clock of which nothing is known but the last reading, a step or not.
func (c *NodeClock) Anew() (fresh NodeClock) {
	if c.known {
		fresh.Observe(c.last)
	}
	return fresh
}

// tolerated is what a clock may gain or lose while d goes by on ours.
func tolerated(d time.Duration) time.Duration { return d/clockRate + clockSlack }

// Expect bounds what the node's clock says when it carries out a request that is sent at now, and that takes no longer on
// its way than the reading before it did, twice.
func (c *NodeClock) Expect(now time.Duration) (low, high time.Duration) {
	r := c.latest
	low = r.Node + (now - r.Received) - tolerated(now-r.Received)
	high = r.Node + (now - r.Sent) + tolerated(now-r.Sent) + 2*(r.Received-r.Sent)
	return low, high
}

// Drift is how much faster than ours the clock runs, in parts per million, as far as its readings tell; 0 if
// they do not go back far enough.
func (c *NodeClock) Drift() float64 {
	span := c.base.Sent - c.first.Sent
	if span < 10*time.Second || c.first == (Reading{}) {
		return 0
	}
	return float64(c.base.ahead().since(c.first.ahead()).about()) / float64(span) * 1e6
}

// Best is the most exact of the latest readings; false if there is none.
func (c *NodeClock) Best() (Reading, bool) {
	if c.base.ahead().width() < c.best.ahead().width() {
		return c.base, c.known
	}
	return c.best, c.known
}

// Latest is the latest reading that was no step; false if there is none.
func (c *NodeClock) Latest() (Reading, bool) { return c.latest, c.known }

// WallShift is how far a node's clock has moved, measured by wall clocks, since its mark was made. wall is our wall clock
// minus the clock that readings are told by.
func WallShift(mark Mark, r Reading, wall time.Duration) Shift {
	offset := r.ahead()
	return Shift{
		offset.Low - wall - mark.Offset - time.Millisecond, // the mark has whole milliseconds
		offset.High - wall - mark.Offset + time.Millisecond,
	}
}

// Blame is whose clock has moved.
type Blame uint8

const (
	NotKnown Blame = iota // in doubt, refuse
	Theirs                // the node's
	Ours                  // ours: a majority of the nodes seems to have moved together
)

// Evidence is what is known of another node's clock, for Judge.
type Evidence struct {
	Heard bool  // since the question came up
	Moved bool  // certainly
	By    Shift // if heard
}

// JudgeClock says whose clock it was that moved by step, from what the n-1 other nodes show. When we stood still together
// with our clock, or our wall clock was set, all nodes seem to move by the same, but for what their clocks differ in rate.
func JudgeClock(step Shift, others []Evidence) Blame {
	slack := tolerated(max(step.about(), -step.about()))
	near := Shift{step.Low - slack, step.High + slack}
	same, open := 1, 0
	for _, e := range others {
		switch {
		case e.Heard && e.Moved && e.By.overlaps(near):
			same++
		case !e.Heard, !e.Moved && e.By.overlaps(step): // too inexact to tell
			open++
		}
	}
	majority := Majority(len(others) + 1)
	switch {
	case same >= majority:
		return Ours
	case same+open < majority:
		return Theirs
	default:
		return NotKnown
	}
}

// String is for people: about how much the clock has gained or lost.
func (s Shift) String() string {
	d := s.about().Round(time.Millisecond)
	if d < 0 {
		return "lost " + (-d).String()
	}
	return "gained " + d.String()
}
