package quorum

import (
	"errors"
	"fmt"
	"time"
)

// Watch decides whether what a node says over one connection counts: whether the instance behind it is vouched for
// (P1, P2), and whether its clock has jumped (P4). It has nothing to do with health.
//
// What it is told is what was read behind the requests of a flush, in the order in which flushes were sent. That the mark
// stood before them and stands behind them is what makes their votes count: whatever the node forgot before it
// carried them out is seen.
type Watch struct {
	runID string // what this connection reported when it was opened
	clock NodeClock

	// known is the mark that vouches for the node; empty if nothing does.
	known string
	// era grows with every change of known. A vote counts only if it was asked for in the present era: a value that
	// was lost and has come back vouches for nothing that was asked for before.
	era  uint32
	gone error // why known is empty

	// step is what is to be done about a clock that jumped.
	step step
	by   Shift
	wall bool // the jump was seen by wall clocks
	// suspects are the marks that the jump may have come after: they never vouch again.
	suspects [2]string
	marked   bool // the mark seen with the jump vouched for the node

	seen     time.Duration // our clock when the jump was seen
	forgiven pardon        // the latest jump that was ours
}

// pardon is a jump that a majority shared. It stays evidence for those that see it a moment later: else the last of them
// would find that nobody else has moved.
type pardon struct {
	by   Shift
	wall bool
	seen time.Duration
	ok   bool
}

// sameMoment is how much later than the first node the last one is seen to have moved: all are looked at twice a second, and
// answer within a second or are not asked.
const sameMoment = 2 * time.Second

type step uint8

const (
	steady    step = iota
	stepped        // seen; whose clock it was is not known yet
	condemned      // it was the node's: its mark must be deleted, for everyone
)

var (
	errUnmarked = errors.New("not vouched for: it has no mark, so that it is new or was flushed")
	errTaught   = errors.New("not vouched for: it is being taught what it may have forgotten")
	errInstance = errors.New("not vouched for: it is another instance than before, so that it was restarted or replaced")
	errRetold   = errors.New("not vouched for: it had forgotten and was taught again meanwhile")
	errPaused   = errors.New("not vouched for: clocks of a majority moved together, so that redlockd itself was paused")
	errUnwatch  = errors.New("not vouched for: nothing was read yet")
)

// NewWatch of a connection that reported runID when it was opened. before is the watch of the connection before it, nil if there
// was none: over the same instance, its clock goes on, and a jump that was not settled is not forgotten.
func NewWatch(runID string, before *Watch) *Watch {
	w := &Watch{runID: runID, gone: errUnwatch}
	if before == nil || before.runID != runID || runID == "" {
		return w
	}
	w.clock, w.step, w.by, w.wall = before.clock, before.step, before.by, before.wall
	w.suspects, w.marked = before.suspects, before.marked
	w.seen, w.forgiven = before.seen, before.forgiven
	if w.step != steady {
		w.gone = before.gone
	}
	return w
}

// Trust is what a connection knew of its node when a flush was sent.
type Trust struct {
	vouched bool
	era     uint32
}

// Trust of now, to be kept with the flush that is about to be sent.
func (w *Watch) Trust() Trust { return Trust{w.known != "", w.era} }

// Vouched says whether takes and extends may be sent (P2); if not, the error says why not.
func (w *Watch) Vouched() error { return w.gone }

// Mark that vouches for the node, empty if it is not vouched for.
func (w *Watch) Mark() string { return w.known }

// Look is what was read behind the requests of a flush.
type Look struct {
	Trust Trust // when it was sent
	Mark  string
	Clock Reading
	Err   error // nothing could be read
}

// See what was read, and say whether the votes of that flush count (P2): nil, or why not.
func (w *Watch) See(l Look) error {
	if l.Err != nil {
		return l.Err
	}
	moved, ok := w.clock.Observe(l.Clock)
	switch {
	case w.step != steady:
		return w.gone // P4: until the mark was deleted and a new one is read
	case !ok:
		w.jump(moved, l.Mark, false, l.Clock.Received)
		return w.gone
	}
	vouched := l.Trust.vouched && l.Trust.era == w.era && l.Mark == w.known
	if !vouched {
		w.adopt(l.Mark)
	}
	switch {
	case vouched:
		return nil
	case w.gone != nil:
		return w.gone
	default:
		return errRetold
	}
}

// adopt the mark that was read: for what is sent from now on. Why the node is not vouched for is what
// was seen first.
func (w *Watch) adopt(mark string) {
	if mark == w.known && mark != "" {
		return
	}
	m := ParseMark(mark)
	if m.RunID != "" && m.RunID == w.runID && mark != w.suspects[0] && mark != w.suspects[1] {
		w.known, w.gone = mark, nil
		w.era++
		return
	}
	if w.known == "" && w.gone != errUnwatch {
		return
	}
	w.known = ""
	w.era++
	switch {
	case m.RunID != "":
		w.gone = errInstance
	case m.Nonce != "":
		w.gone = errTaught
	default:
		w.gone = errUnmarked
	}
}

func (w *Watch) jump(moved Shift, mark string, wall bool, seen time.Duration) {
	w.step, w.by, w.wall, w.seen = stepped, moved, wall, seen
	w.suspects, w.marked = [2]string{w.known, mark}, ParseMark(mark).RunID == w.runID
	w.known = ""
	w.era++
	w.gone = fmt.Errorf("not vouched for: its clock jumped by about %v", moved.about().Round(time.Millisecond))
}

// CheckWall looks, when the connection is opened, whether the node's clock has moved since it was vouched for, by wall
// clocks, which nobody here witnessed: beyond tolerance it is a jump. wall is our wall clock minus the clock of readings.
func (w *Watch) CheckWall(wall, tolerance time.Duration) {
	moved, ok := w.WallShift(wall)
	if ok && w.step == steady && moved.beyond(tolerance) {
		w.jump(moved, w.known, true, w.clock.latest.Received)
	}
}

// WallShift is how far the node's clock has moved since its mark was made; false if that is not known.
func (w *Watch) WallShift(wall time.Duration) (Shift, bool) {
	mark := w.known
	if w.step != steady && w.marked {
		mark = w.suspects[1]
	}
	r, ok := w.clock.Latest()
	if !ok || mark == "" {
		return Shift{}, false
	}
	return WallShift(ParseMark(mark), r, wall), true
}

// Jumped says that the clock jumped and that it is not known whose it was; by wall clocks, or by ours.
func (w *Watch) Jumped() (by Shift, wall, jumped bool) { return w.by, w.wall, w.step == stepped }

// Evidence of this node's clock about another's that jumped at since. w is the watch of its connection.
func (w *Watch) Evidence(since time.Duration) Evidence {
	if w.step != steady && !w.wall {
		return Evidence{Heard: true, Moved: true, By: w.by}
	}
	if p := w.forgiven; p.ok && !p.wall && (since-p.seen).Abs() <= sameMoment {
		return Evidence{Heard: true, Moved: true, By: p.by}
	}
	r, ok := w.clock.Latest()
	if !ok || r.Received < since {
		return Evidence{}
	}
	return Evidence{Heard: true, By: r.ahead().since(w.clock.base.ahead())}
}

// WallEvidence is the same by wall clocks. A node without a mark cannot tell.
func (w *Watch) WallEvidence(wall, tolerance time.Duration) Evidence {
	moved, ok := w.WallShift(wall)
	if p := w.forgiven; !ok && p.ok && p.wall { // its mark is about to be read again
		return Evidence{Heard: true, Moved: true, By: p.by}
	}
	if !ok {
		return Evidence{Heard: true, By: Shift{}} // it never shares
	}
	return Evidence{Heard: true, Moved: moved.beyond(tolerance), By: moved}
}

// Condemn the node's clock: it was the node that jumped.
func (w *Watch) Condemn() {
	if w.step == stepped {
		w.step = condemned
	}
}

// Condemned says that the mark must be deleted for everyone (P4): the mark that was seen together with the jump. Where
// that vouched for nothing, any that does: it may have been made before the jump, between our two readings.
func (w *Watch) Condemned() (mark string, due bool) {
	if w.marked {
		mark = w.suspects[1]
	}
	return mark, w.step == condemned
}

// Retracted: the node has answered that its mark was deleted. From here on a new one counts, and the
// clock is compared with what it shows now (P4).
func (w *Watch) Retracted() { w.settle(w.gone) }

// Forgive: it was we who stood still. What is in flight does not count, since how long it took is not known.
func (w *Watch) Forgive() {
	if w.step == stepped {
		w.suspects = [2]string{}
		w.forgiven = pardon{w.by, w.wall, w.seen, true}
		w.settle(errPaused)
	}
}

func (w *Watch) settle(why error) {
	w.step, w.clock, w.gone = steady, NodeClock{}, why
	w.era++
}

// Clock of the node.
func (w *Watch) Clock() *NodeClock { return &w.clock }

// Doubted is the answer with that doubt about the votes of its flush. A take's no always counts (P2): the
// node has the key.
func (a Answer) Doubted(op Op, doubt error) Answer {
	if op != Take || a.Vote != No {
		a.Doubt = doubt
	}
	return a
}

// RunID is what the connection reported when it was opened.
func (w *Watch) RunID() string { return w.runID }

// Standing of the node, for the readmission of others.
func (w *Watch) Standing() Standing {
	switch {
	case w.step != steady || w.gone == errUnwatch:
		return Unreached
	case w.known != "":
		return Trusted
	default:
		return Forgetful
	}
}
