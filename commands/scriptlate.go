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

// lookFirst makes an inspection of an extend that wants some time to be left. What it finds decides what follows, and is what the script
// tells of the time that was left. It may be a little less by then: no harm, since only the holder is extended.
func lookFirst(c *Command, look *computation) {
	extend := *c
	c.Verb, c.Key, c.Keys, c.Token, c.Publish, c.Compute = Inspect, nil, look.names, nil, nil, look.compute
	c.Next = func(seen []Seen) (*Command, error) {
		r := look.run(seen)
		if r.why != "" {
			return nil, refusal(look.known.sha, r.why)
		}
		if !r.changed() {
			return nil, nil
		}
		next := extend
		next.Owned = replyOf(r.reply, nil)
		return &next, nil
	}
}
