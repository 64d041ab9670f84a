package quorum

import (
	"fmt"
	"slices"
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

	// known is the mark that vouches for the node; empty if nothing does. lastKnown is the last that did.
	known, lastKnown string
	// era grows with every change of known. A vote counts only if it was asked for in the present era: a value that
	// was lost and has come back vouches for nothing that was asked for before.
	era    uint32
	gone   error // why known is empty
	spoilt bool  // the mark read last says so, see IsSpoilt

	// step is what is to be done about a clock that jumped.
	step step
	by   Shift
	wall bool // the jump was seen by wall clocks
	// suspects are what the jump may have come after (see VouchOf): they never count again.
	suspects [2]string
	seen     string // the mark that was read together with the jump

	// left are the instances (see VouchOf) that another one has taken the place of, behind the same address. One that comes back
	// has missed what was taken meanwhile, however whole its memory is.
	left []string

	// excused is the last jump that was ours, and our clock when it was settled: the nodes are judged one after the
	// other, and to those that come later this one still is a witness.
	excused   Shift
	excusedAt time.Duration
	excuses   bool
}

// witness is for how long a jump that was ours is remembered: all other nodes are looked at within that time.
const witness = 5 * time.Second

type step uint8

const (
	steady    step = iota
	stepped        // seen; whose clock it was is not known yet
	condemned      // it was the node's: its mark must be deleted, for everyone
)

// NotVouched is why a node's yes does not count, and why takes are not sent to it.
type NotVouched string

func (n NotVouched) Error() string { return "not vouched for: " + string(n) }

const (
	errUnmarked NotVouched = "it has no mark, so that it is new or was flushed"
	errTaught   NotVouched = "it is being taught what it may have forgotten"
	errInstance NotVouched = "it is another instance than before, so that it was restarted or replaced"
	errSpoilt   NotVouched = "its clock jumped, or it may have evicted keys, as another redlockd has seen"
	errRetold   NotVouched = "it had forgotten and was taught again meanwhile"
	errCameBack NotVouched = "another instance had its place meanwhile"
	errPaused   NotVouched = "clocks of a majority moved together, so that redlockd itself was paused"
	errUnread   NotVouched = "nothing was read yet"
)

// NewWatch of a connection that reported runID when it was opened. before is the watch of the connection before it, nil if there
// was none: over the same instance, its clock goes on, and a jump that was not settled is not forgotten.
func NewWatch(runID string, before *Watch) *Watch {
	w := &Watch{runID: runID, gone: errUnread}
	if before == nil {
		return w
	}
	w.left = before.left
	if before.runID != runID || runID == "" {
		if last := VouchOf(before.lastKnown); last != "" {
			w.left = append(slices.Clip(w.left), last)
			w.left = w.left[max(0, len(w.left)-maxLeft):]
		}
		return w
	}
	w.lastKnown = before.lastKnown
	w.clock, w.step, w.by, w.wall = before.clock, before.step, before.by, before.wall
	w.suspects, w.seen = before.suspects, before.seen
	w.excused, w.excusedAt, w.excuses = before.excused, before.excusedAt, before.excuses
	if w.step != steady {
		w.gone = before.gone
	}
	return w
}

// maxLeft bounds what is remembered of an address that leads somewhere else all the time.
const maxLeft = 64

// Trust is what a connection knew of its node when a flush was sent.
type Trust struct {
	vouched bool
	era     uint32
}

// Trust of now, to be kept with the flush that is about to be sent.
func (w *Watch) Trust() Trust { return Trust{w.known != "", w.era} }

// Vouched says whether takes and extends may be sent (P2); if not, the error says why not.
func (w *Watch) Vouched() error {
	if planted == BugVotesAtOnce || planted == BugNotKnownBefore {
		return nil
	}
	return w.gone
}

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
	if !ok && planted == BugStepSeenOnce {
		w.clock = w.clock.Anew()
		return errPaused
	}
	if !ok && planted != BugStepUnseen {
		w.jump(moved, l.Mark, false, l.Clock.Received-w.clock.witness(moved).Sent)
		w.clock = w.clock.Anew()
	}
	if w.step != steady {
		return w.gone // P4: until the mark was deleted and a new one is read
	}
	if l.Mark != w.known && w.known != "" && VouchOf(l.Mark) == VouchOf(w.known) {
		w.known = l.Mark // its offset was renewed
	}
	vouched := l.Trust.vouched && l.Trust.era == w.era && l.Mark == w.known
	if planted == BugNoTail && l.Trust.vouched {
		vouched = true
		defer w.adopt(l.Mark)
	}
	if !vouched {
		w.adopt(l.Mark)
	}
	switch {
	case planted == BugVotesAtOnce:
		return nil
	case planted == BugNotKnownBefore, planted == BugTailAlone && l.Trust.vouched:
		return w.gone
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
	w.spoilt = IsSpoilt(mark)
	if mark == w.known && mark != "" {
		return
	}
	m := ParseMark(mark)
	if m.RunID != "" && m.RunID == w.runID && VouchOf(mark) != w.suspects[0] && VouchOf(mark) != w.suspects[1] {
		if slices.Contains(w.left, VouchOf(mark)) {
			w.gone, w.step = errCameBack, condemned
			w.suspects, w.seen = [2]string{VouchOf(mark), VouchOf(mark)}, mark
			return
		}
		w.known, w.lastKnown, w.gone = mark, mark, nil
		w.era++
		return
	}
	if w.known == "" && !w.unread() {
		return
	}
	w.known = ""
	w.era++
	switch {
	case m.RunID != "":
		w.gone = errInstance
	case m.Nonce != "":
		w.gone = errTaught
	case w.spoilt:
		w.gone = errSpoilt
	default:
		w.gone = errUnmarked
	}
}

// jump: the clock moved by that within a time of ours, or, by wall clocks, since it was vouched for; it was seen together with
// mark. It may be another one, before the one before it was settled: what was taught meanwhile is suspect, too, and what
// was to be done is not enough any more.
func (w *Watch) jump(moved Shift, mark string, wall bool, within time.Duration) {
	if w.gone == nil || w.unread() { // else the first reason stays
		w.gone = NotVouched(fmt.Sprintf("its clock jumped, it %s within %v", moved, within.Round(time.Millisecond)))
		if wall {
			w.gone = NotVouched(fmt.Sprintf("its clock jumped, it %s since it was vouched for, by wall clocks", moved))
		}
	}
	w.step, w.by, w.wall = max(w.step, stepped), moved, wall
	w.suspects, w.seen = [2]string{VouchOf(w.known), VouchOf(mark)}, mark
	w.known = ""
	w.era++
}

// CheckWall looks, when the connection is opened, whether the node's clock has moved since it was vouched for, by wall
// clocks, which nobody here witnessed: beyond tolerance it is a jump. wall is our wall clock minus the clock of readings.
func (w *Watch) CheckWall(wall, tolerance time.Duration) {
	moved, ok := w.WallShift(wall)
	if ok && w.step == steady && moved.Beyond(tolerance) {
		w.jump(moved, w.known, true, 0)
	}
}

// WallShift is how far the node's clock has moved since its mark was made; false if that is not known.
func (w *Watch) WallShift(wall time.Duration) (Shift, bool) {
	mark := w.known
	if w.step != steady {
		mark = w.seen
	}
	r, ok := w.clock.Latest()
	m := ParseMark(mark)
	if !ok || m.RunID == "" {
		return Shift{}, false
	}
	return WallShift(m, r, wall), true
}

// Renew says what the mark should be replaced by, when the node's clock and our wall clock have moved apart, slowly and before our
// eyes, by more than a quarter of tolerance: so that a redlockd that connects later does not take it for a jump. due
// is false if there is nothing to do.
func (w *Watch) Renew(wall, tolerance time.Duration) (old, renewed string, due bool) {
	moved, ok := w.WallShift(wall)
	if !ok || w.step != steady || !moved.Beyond(tolerance/4) {
		return "", "", false
	}
	m := ParseMark(w.known)
	m.Offset += moved.about()
	return w.known, m.String(), true
}

// Jumped says that the clock jumped and that it is not known whose it was; by wall clocks, or by ours.
func (w *Watch) Jumped() (by Shift, wall, jumped bool) { return w.by, w.wall, w.step == stepped }

// Evidence of this node's clock about another's that jumped at since. w is the watch of its connection.
func (w *Watch) Evidence(since time.Duration) Evidence {
	if w.step != steady && !w.wall {
		return Evidence{Heard: true, Moved: true, By: w.by}
	}
	if w.excuses && since-w.excusedAt < witness {
		return Evidence{Heard: true, Moved: true, By: w.excused}
	}
	r, ok := w.clock.Latest()
	if !ok || r.Sent < since { // an answer that was on its way already may be from before
		return Evidence{}
	}
	return Evidence{Heard: true, By: r.ahead().since(w.clock.base.ahead())}
}

// WallEvidence is the same by wall clocks. A node without a mark cannot tell. The offsets of two marks may be off by a
// quarter of tolerance each (see Renew), so that two nodes that show the same do not show it more exactly.
func (w *Watch) WallEvidence(wall, tolerance time.Duration) Evidence {
	moved, ok := w.WallShift(wall)
	switch {
	case !ok && w.unread():
		return Evidence{}
	case !ok:
		return Evidence{Heard: true, By: Shift{}} // it never shares
	case !moved.Beyond(tolerance):
		return Evidence{Heard: true, By: moved}
	}
	return Evidence{Heard: true, Moved: true, By: Shift{moved.Low - tolerance/2, moved.High + tolerance/2}}
}

// Condemn the node's clock: it was the node that jumped.
func (w *Watch) Condemn() {
	if w.step == stepped {
		w.step = condemned
	}
}

// Condemned says that the mark must be deleted for everyone (P4): the one that was seen together with the jump (see VouchOf). Where
// that vouched for nothing it is empty, and any that does must go: it may have been made before the jump, between
// our two readings.
func (w *Watch) Condemned() (vouch string, due bool) {
	return w.suspects[1], w.step == condemned
}

// Retracted: the node has answered that what Condemned had named was deleted. From here on a new mark counts (P4): it was made
// after the jump, and there has been no other one since.
func (w *Watch) Retracted(vouch string) {
	if w.step == condemned && vouch == w.suspects[1] {
		w.settle(w.gone)
	}
}

// Forgive: it was we who stood still. What is in flight does not count, since how long it took is not known.
func (w *Watch) Forgive() {
	if w.step == stepped {
		if !w.wall {
			w.excused, w.excusedAt, w.excuses = w.by, w.clock.last.Received, true
		}
		w.suspects = [2]string{}
		w.settle(errPaused)
	}
}

func (w *Watch) settle(why error) {
	w.step, w.gone = steady, why
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

// unread: there has been no mark to read since the connection was opened, or since we stood still.
func (w *Watch) unread() bool { return w.known == "" && (w.gone == errUnread || w.gone == errPaused) }

// Standing of the node, for the readmission of others.
func (w *Watch) Standing() Standing {
	switch {
	case w.step != steady || w.unread():
		return Unreached
	case w.known != "":
		return Trusted
	case w.spoilt:
		return Spoilt
	default:
		return Forgetful
	}
}
