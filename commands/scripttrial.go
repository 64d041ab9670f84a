// The trial of a script: state after state, until one row of the table of operations is left or none.

package commands

import (
	"slices"
)

// trial is one passage through all states.
type trial struct {
	*recognition
	ttls []int64
	roles
	found   roles  // as they were found, with first in place of the expiry
	first   string // the expiry that is tried first: unlike all other texts, so that it can be told from them
	prefix  bool   // it does with a value that begins like its token what it does with the token
	db      int
	line    int
	amounts []symbol  // that were passed as an expiry
	told    []message // with every change
	changes bool      // there has been one
	timed   bool      // it asks for remaining times
	again   bool      // it has touched a new key, or asked for the first time how long one lasts: from the start, with
	more    []word    // all the keys that it touches
	late    lateness
	left    []*law
	lives   []ttlLaw // that explain every expiry set so far
	answers map[occasion]*sighting
	order   []occasion // of answers
}

// roles are the parts that words of the call or of the script play.
type roles struct {
	names   []word // of the keys that it touches
	tokens  []word // by key; nil if none has been found
	becomes word   // of a swap: what the key is set to
}

// occasion is how the keys were held, and whether the script did nothing although it may be an extend.
type occasion struct {
	holders
	spared bool
}

// sighting is what has been answered on an occasion.
type sighting struct {
	answer answer
	left   int64 // that the first key had when it was noted
	varies bool
}

// start finds the keys and the tokens: by what the script does while all keys hold the same.
func (t *trial) start() {
	*t = trial{recognition: t.recognition, ttls: t.ttls, roles: roles{names: t.more}, timed: t.timed, db: unset, left: slices.Clone(laws), answers: make(map[occasion]*sighting)}
	t.firstTTL()
	missing := t.uniform(cell{})
	if t.stopped() {
		return
	}
	if len(t.names) == 0 {
		t.why = "touches no key"
		return
	}
	other := t.uniform(present(somebodyElse, word{symbol: otherHolder}, usualLeft))
	if t.stopped() {
		return
	}
	if slices.ContainsFunc(missing.now, func(k modelKey) bool { return k.exists }) {
		t.tokens = valuesOf(missing, t.names)
		t.findPrefix()
		return
	}
	if !other.changed() {
		t.findToken()
	}
}

const unset = -2

// uniform runs the script while every key holds the same, and learns which keys it touches.
func (t *trial) uniform(c cell) *run {
	r := t.runWith(t.names, slices.Repeat([]modelKey{c.key}, len(t.names)), c.key, c.shared)
	if t.usable(r) {
		t.names = r.names
	}
	return r
}

// usable says that a run can be judged.
func (t *trial) usable(r *run) bool {
	if r.why != "" || r.peeked != 0 {
		t.why, t.peeked = r.why, r.peeked
		return false
	}
	for _, sym := range r.amounts {
		if !slices.Contains(t.amounts, sym) {
			t.amounts = append(t.amounts, sym)
		}
	}
	if r.line > 0 && t.line == 0 {
		t.line = r.line
	}
	t.again = t.again || r.timed && !t.timed
	t.timed = t.timed || r.timed
	if r.touched && t.db != unset && t.db != r.usedDB {
		t.why = "uses two databases"
		return false
	}
	if r.touched {
		t.db = r.usedDB
	}
	t.tells(r)
	return t.why == ""
}

// valuesOf is what a run has left in the keys.
func valuesOf(r *run, names []word) []word {
	values := make([]word, len(names))
	for i := range r.now {
		if i < len(values) {
			values[i] = r.now[i].value
		}
	}
	return values
}

// findToken finds the one value that has to be in the keys for the script to change them.
func (t *trial) findToken() {
	found := func(c cell, tokens func() []word) {
		r := t.uniform(c)
		if t.stopped() || !r.changed() {
			return
		}
		if t.tokens != nil && c.key.value != t.tokens[0] {
			t.why = "takes more than one value for its token"
			return
		}
		if !t.holds(c.key.value) {
			t.why = "also " + deedOf(r.was[0], r.now[0]).String() + " " + somebodyElse.String()
			return
		}
		t.tokens = tokens()
		t.becomes = r.now[0].value
	}
	values := t.others(0)[1:] // before there is a token, all values are another's
	for _, left := range []int64{usualLeft, longLeft} {
		for _, c := range values {
			if c.shared != (word{}) || c.key.value.cut != 0 {
				continue
			}
			if found(c.lasting(left), func() []word { return slices.Repeat([]word{c.key.value}, len(t.names)) }); t.stopped() {
				return
			}
		}
	}
	if t.tokens == nil && len(t.names) > 1 {
		t.findTokens()
	}
	t.findPrefix()
}

// findTokens looks for a token for each key, in the order of the keys, among the words of the call.
func (t *trial) findTokens() {
	n := len(t.names)
	for first := 0; first+n <= t.call.n; first++ {
		tokens, keys := make([]word, n), make([]modelKey, n)
		for i := range n {
			tokens[i] = t.word(t.of[first+i])
			keys[i] = present(owner, tokens[i], usualLeft).key
		}
		r := t.recognition.run(t.names, keys, modelKey{})
		if !t.usable(r) {
			return
		}
		if r.changed() {
			t.tokens = tokens
			return
		}
	}
}

// findPrefix finds out whether the rest of the token counts.
func (t *trial) findPrefix() {
	if t.tokens == nil || t.cut == 0 || t.stopped() {
		return
	}
	token := t.tokens[0]
	if token.symbol == 0 && len(token.text) < t.cut || token.symbol != 0 && len(t.call.value[t.groups[token.symbol-1].first]) < t.cut {
		return
	}
	alike := present(owner, word{symbol: sharer}, usualLeft)
	alike.shared = t.cutWord(token, t.cut)
	r := t.uniform(alike)
	t.prefix = !t.stopped() && r.changed()
}

// all goes through all states.
func (t *trial) all() {
	t.again, t.found = false, t.roles
	for i, ttl := range t.ttls {
		t.ttlText(ttl)
		for st := range t.states(i > 0) {
			t.check(st)
			if t.stopped() || t.again {
				return
			}
		}
	}
}

// check runs the script in one state and strikes out what does not explain what it did.
func (t *trial) check(st *state) {
	r := t.runWith(t.names, st.keys, modelKey{}, st.shared)
	if !t.usable(r) || t.again {
		return
	}
	if len(r.names) > len(t.names) {
		t.more, t.again = append(t.found.names, r.names[len(t.names):]...), true
		return
	}
	if r.rejected && st.count.odd == 0 {
		t.why = "fails " + st.who[0].String()
		return
	}
	spared := t.spared(st) && (!r.changed() || r.past) || t.tooLate(st, r)
	first := t.left[0]
	t.left = slices.DeleteFunc(t.left, func(l *law) bool {
		if spared && l.verb == Extend {
			return false
		}
		for i := range st.keys {
			if !t.obeys(l, st, r, i) {
				if l.verb != Inspect && first.verb == Inspect {
					first = l
				}
				return true
			}
		}
		return false
	})
	if len(t.left) == 0 {
		t.why = t.complaint(first, st, r)
		return
	}
	t.expiries(st, r)
	if st.count.odd == 0 {
		t.answered(st, r, spared)
	}
}

// spared says that an owned key has no expiry, which an extend may leave alone.
func (t *trial) spared(st *state) bool {
	for i := range st.keys {
		if st.who[i] == owner && st.keys[i].left == noExpiry {
			return true
		}
	}
	return false
}

// answered notes an answer.
func (t *trial) answered(st *state, r *run, spared bool) {
	when := occasion{st.count, spared}
	seen, ok := t.answers[when]
	if !ok {
		t.answers[when] = &sighting{answer: r.reply, left: st.keys[0].left}
		t.order = append(t.order, when)
		return
	}
	var same bool
	if seen.answer, same = seen.answer.merge(r.reply, seen.left, st.keys[0].left); !same {
		seen.varies = true
	}
}
