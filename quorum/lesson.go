package quorum

import (
	"fmt"
	"slices"
	"time"
)

// Standing is what a redlockd knows of a node, for the readmission of another.
type Standing uint8

const (
	// Unreached: not connected, or its clock is in doubt: it can neither teach nor be counted as new.
	Unreached Standing = iota
	// Forgetful: connected, and not vouched for.
	Forgetful
	// Spoilt: the same, but it still has locks, though not all of them (see IsSpoilt): it is not to be taken for new.
	Spoilt
	// Trusted: connected, and vouched for.
	Trusted
)

// AllForgot says that no node of the fleet is vouched for, although all of them answered (P11): it is new, or has lost all
// its memory at once, which cannot be told apart. Spoilt nodes have not lost all of it, and still know locks that others
// have forgotten; but one that is alone has nobody to wait for.
func AllForgot(standings []Standing) bool {
	for _, s := range standings {
		if planted == BugNewOfReachable && s == Unreached {
			continue
		}
		if s != Forgetful && !(s == Spoilt && len(standings) == 1) {
			return false
		}
	}
	return true
}

// Teachers is how many other nodes must be scanned (P7): every majority of the lock's that our node was part of had
// majority - 1 others, so that one of them is among these.
func Teachers(n int) int {
	if planted == BugFewSources {
		return n - Majority(n)
	}
	return n - Majority(n) + 1
}

// WaitOut is how long to wait so that d is over, whatever the clocks do meanwhile.
func WaitOut(d time.Duration) time.Duration { return d + Drift(d) }

// Lesson is the way of one node that forgot back into the vote, taught by one redlockd (P5 to P10). It says what to do next
// and is told what came of it. What it stands on is one connection to the node and one mark: where either is
// lost, the lesson is over and everything about it is forgotten (P5).
type Lesson struct {
	n, node int
	limit   time.Duration // R
	longest time.Duration // the longest life of a key

	begun    bool
	began    time.Duration // our clock when the answer to begin was read
	complete bool          // P13: the node kept everything, by its own word
	admitted bool
	scanned  []bool
	failed   []time.Duration // our clock when the scan of a node failed; it is not tried again at once
}

// NewLesson for a node of n. limit is R; longest is the longest time to live that nodes are given, padding included.
func NewLesson(n, node int, limit, longest time.Duration) *Lesson {
	return &Lesson{n: n, node: node, limit: limit, longest: longest, scanned: make([]bool, n), failed: make([]time.Duration, n)}
}

// Begun: the node carries our mark (P5). complete says that it has loaded all that it had acknowledged before, by its
// own word (P13).
func (l *Lesson) Begun(received time.Duration, complete bool) {
	l.begun, l.began, l.complete = true, received, complete
}

// Scanned: every lock of that node was merged, and it was vouched for all the time (P7).
func (l *Lesson) Scanned(node int) { l.scanned[node] = true }

// ScanFailed: what was merged does no harm, but counts for nothing (P7).
func (l *Lesson) ScanFailed(node int, now time.Duration) { l.failed[node] = now }

// Admit is the operator's word (P10).
func (l *Lesson) Admit() { l.admitted = true }

// Do is a step of a lesson.
type Do uint8

const (
	// Begin: set our mark, unless the node is vouched for (P5).
	Begin Do = iota
	// Wait until the step's instant, or until something has changed.
	Wait
	// Scan the step's nodes, and merge what they hold (P7, P8).
	Scan
	// Vouch for the node, if it still carries our mark and its clock shows no step (P9).
	Vouch
	// Stop, and forget everything.
	Stop
)

// Step is what to do next.
type Step struct {
	Do    Do
	Until time.Duration // Wait: our clock
	Long  bool          // Wait: for teachers, which another redlockd may see already
	Nodes []int         // Scan
	Why   string        // for people
}

// rescan is how long a node whose scan failed is left alone.
const rescan = 500 * time.Millisecond

// Next step, at now, with what is known of all nodes.
func (l *Lesson) Next(now time.Duration, standings []Standing) Step {
	switch {
	case standings[l.node] == Trusted:
		return Step{Do: Stop, Why: "it is vouched for"}
	case AllForgot(standings) && !l.admitted:
		return Step{Do: Stop, Why: "no node of the fleet is vouched for"} // P11 is the way
	case !l.begun:
		return Step{Do: Begin}
	}
	// P6: before the scan. Votes that were in flight when the node forgot have been carried out by now.
	wait := WaitOut(l.limit)
	switch planted {
	case BugNoWait, BugWaitAfterScan:
		wait = 0
	case BugShortWait:
		wait /= 4
	}
	if scanFrom := l.began + wait; now < scanFrom {
		return Step{Do: Wait, Until: scanFrom, Why: "waiting for rounds in flight to end"}
	}
	return l.after(now, standings)
}

// after the wait of P6.
func (l *Lesson) after(now time.Duration, standings []Standing) Step {
	done, can, failing, retry := 0, []int(nil), 0, time.Duration(0)
	for i := range standings {
		switch {
		case i == l.node:
		case l.scanned[i]:
			done++
		case standings[i] != Trusted:
		case l.failed[i] == 0 || now >= l.failed[i]+rescan:
			can = append(can, i)
		default:
			if at := l.failed[i] + rescan; failing == 0 || at < retry {
				retry = at
			}
			failing++
		}
	}
	need, over := Teachers(l.n), l.began+WaitOut(l.longest)
	switch {
	case planted == BugWaitAfterScan && done >= need && now < l.began+WaitOut(l.limit):
		return Step{Do: Wait, Until: l.began + WaitOut(l.limit)}
	case done >= need:
		return Step{Do: Vouch, Why: fmt.Sprintf("taught by %d nodes", done)}
	case now >= over: // R23. Also where a node that could teach it never ends its scan
		return Step{Do: Vouch, Why: "waited for the longest lock to end"}
	case done+len(can) >= need:
		return Step{Do: Scan, Nodes: can[:need-done]}
	case l.admitted || l.complete && done+len(can)+failing < need:
		return l.withoutTeachers(need, done, can)
	case done+len(can)+failing >= need:
		return Step{Do: Wait, Until: retry, Why: "a scan failed"}
	}
	return Step{Do: Wait, Until: over, Long: true, Why: fmt.Sprintf( // P10
		"%d of %d other nodes can teach it: waiting for more, or until the longest lock has ended in %v (see REDLOCK ADMIT)",
		done+len(can)+failing, need, (over - now).Round(time.Second))}
}

// withoutTeachers: it is vouched for although too few others can teach it. What can be copied is, in one try.
func (l *Lesson) withoutTeachers(need, done int, can []int) Step {
	can = slices.DeleteFunc(can, func(i int) bool { return l.failed[i] != 0 })
	switch {
	case len(can) > 0:
		return Step{Do: Scan, Nodes: can}
	case l.admitted: // P10
		return Step{Do: Vouch, Why: fmt.Sprintf("admitted by an operator, taught by %d nodes of %d", done, need)}
	default: // P13
		return Step{Do: Vouch, Why: fmt.Sprintf("it has kept everything on disk, taught by %d nodes of %d", done, need)}
	}
}
