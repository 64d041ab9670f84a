// Extends that want some time to be left, and tell how much it was.

package commands

// lateness is what has been seen of an extend that does nothing when less than a certain time remains, because then it might come too late.
type lateness struct {
	seen         bool
	none, change int64 // the longest remaining time with which it did nothing, and the shortest with which it did
}

// tooLate notes what became of a key of the token's, and says whether it was left alone as an extend may do that comes too late.
func (t *trial) tooLate(st *state, r *run) bool {
	if len(t.names) != 1 || st.who[0] != owner || st.keys[0].left == noExpiry {
		return false
	}
	if t.late.change == 0 {
		t.late.change = maxTTL
	}
	left := st.keys[0].left
	if r.changed() {
		t.late.change = min(t.late.change, left)
		return false
	}
	t.late.none, t.late.seen = max(t.late.none, left), true
	return true
}

// least is the remaining time that an extend wants, to the millisecond: remainingProbes stand on both sides of every number that the script
// could compare with.
func (t *trial) least(f *finding) {
	if !t.late.seen {
		return
	}
	if t.late.none+1 != t.late.change {
		t.why = "does not always change the key " + owner.String()
	}
	f.least = t.late.change
}

// atLeast puts the time that an extend wants in the place of the time that was left: that much it was, and nobody knows how much
// more, since the nodes do not tell.
func (a answer) atLeast(ms int64) answer {
	if a.kind == replyLeft {
		return answer{kind: ReplyInt, n: ms}
	}
	items := a.items
	a.items = nil
	for _, item := range items {
		a.items = append(a.items, item.atLeast(ms))
	}
	return a
}
