// The trial of a script: state after state, until it has proved to be a release or an extend or has been caught at something else.

package commands

import "strconv"

// finding is a verdict: which operation, on which positions of the call, with which replies.
type finding struct {
	op                    ScriptOp
	key, token            int // positions
	ttl                   ttlLaw
	owned, missing, other outcome
}

// ttlLaw says how an extend comes to its expiry.
type ttlLaw struct {
	from     int   // the position of the expiry, or -1: constant
	constant int64 // from == -1: written in the script
	factor   int64 // milliseconds per unit
	add      bool  // to the remaining time
	asIs     bool  // during the trial: passed on untouched, so that from is a symbol's group
}

// outcome is a reply that may be one of the call's own values.
type outcome struct {
	fixed Reply
	echo  int // the position of the value that it answers, plus 1; 0: fixed
	seen  bool
	as    answer
}

func (o *outcome) reply(w *callWords) Reply {
	if o.echo > 0 {
		return Reply{Kind: ReplyBulk, Text: w.value[o.echo-1]}
	}
	return o.fixed
}

// holder says who has the key in a state.
type holder int

const (
	nobody holder = iota
	owner
	somebodyElse
	notAString
)

func (h holder) String() string {
	return [...]string{"when the key is missing", "when its token holds the key", "when another holds the key",
		"when the key is not a string"}[h]
}

type keyState struct {
	holder holder
	key    modelKey
}

// trial is one passage through all states.
type trial struct {
	*recognition
	ttls  []int64
	token int // group
	key   int // group, once a run has touched it; -1
	found finding
	laws  []ttlLaw // the laws that explain every expiry set so far
}

// ttlProbes are the expiries to try: one of each size, and the neighbours of each number in the script.
func (c *recognition) ttlProbes() []int64 {
	if c.ttl < 0 {
		return []int64{0} // not looked at
	}
	probes := []int64{1, 2, 999, 1000, 1001, 7919, 30_000, 65_537, 3_600_000, 86_400_000, 1<<31 - 1, 1 << 31, 1 << 32, maxTTL}
	return c.around(probes, 1, maxTTL)
}

func (c *recognition) remainingProbes() []int64 {
	return c.around([]int64{1500, 1, 499, 60_000, 86_400_001}, 1, maxTTL)
}

// around adds n-1, n, n+1 for each number n of the script, and n as seconds for milliseconds and back.
func (c *recognition) around(probes []int64, low, high int64) []int64 {
	seen := make(map[int64]bool)
	for _, p := range probes {
		seen[p] = true
	}
	for _, n := range c.known.numbers {
		for _, p := range []int64{n, n - 1, n + 1, n / 1000, n * 1000} {
			if p >= low && p <= high && !seen[p] {
				seen[p] = true
				probes = append(probes, p)
			}
		}
	}
	return probes
}

// ttlText puts a probe in the place of the expiry. One that equals a flag of the call is left out (the number before it stays): equal
// values are another shape.
func (t *trial) ttlText(ttl int64) {
	if t.ttl < 0 {
		return
	}
	text := strconv.FormatInt(ttl, 10)
	for _, g := range t.groups {
		if g.kind == wordLiteral && g.text == text {
			return
		}
	}
	t.groups[t.ttl].text = text
}

// discover finds the token: the one value of the call that has to be in the key for the script to change it.
func (t *trial) discover() {
	t.key, t.token = -1, -1
	t.ttlText(t.ttls[0])
	for _, st := range []keyState{{holder: nobody}, t.held(somebodyElse, word{symbol: otherHolder}, 1500)} {
		if t.unchanged(st, t.recognition.run(st.key)); t.stopped() {
			return
		}
	}
	if t.key < 0 {
		t.why = "touches no key"
		return
	}
	for g := range t.groups {
		r := t.recognition.run(t.held(owner, t.word(g), 1500).key)
		if !t.usable(r) {
			return
		}
		if len(r.effects) == 0 {
			continue
		}
		if t.token >= 0 {
			t.why = "takes more than one value for its token"
			return
		}
		t.token = g
	}
	if t.token < 0 {
		t.why = "neither deletes nor extends the key"
	}
}

func (t *trial) held(h holder, value word, remaining int64) keyState {
	return keyState{h, modelKey{exists: true, value: value, remaining: remaining}}
}

// states are all states that the script can tell apart.
func (t *trial) states() []keyState {
	token := t.word(t.token)
	states := []keyState{
		{holder: nobody},
		{notAString, modelKey{exists: true, wrongType: true, remaining: 1500}},
		{notAString, modelKey{exists: true, wrongType: true, remaining: noExpiry}},
	}
	others := []word{{symbol: otherHolder}}
	for _, text := range t.known.sorted {
		others = append(others, word{text: text})
	}
	for g := range t.groups {
		others = append(others, t.word(g))
	}
	for _, remaining := range append(t.remainingProbes(), noExpiry) {
		states = append(states, t.held(owner, token, remaining))
		for i, other := range others {
			// Every other value with two remaining times, the unknown one with all.
			if other != token && (i == 0 || remaining == 1500 || remaining == noExpiry) {
				states = append(states, t.held(somebodyElse, other, remaining))
			}
		}
	}
	return states
}

// check runs the script in one state and compares.
func (t *trial) check(st keyState) {
	r := t.recognition.run(st.key)
	if st.holder != owner {
		t.unchanged(st, r)
		return
	}
	if !t.usable(r) {
		return
	}
	if r.rejected {
		t.why = "fails " + st.holder.String()
		return
	}
	if len(r.effects) > 1 {
		t.why = "makes more than one change"
		return
	}
	if len(r.effects) == 0 {
		if st.key.remaining == noExpiry && t.found.op == ScriptExtend {
			return
		}
		t.why = "does not always change the key " + st.holder.String()
		return
	}
	t.change(st, r.effects[0])
	t.answered(st, r)
}

// unchanged is the law for everybody but the owner: no change, one answer.
func (t *trial) unchanged(st keyState, r *run) {
	if !t.usable(r) {
		return
	}
	if len(r.effects) > 0 {
		t.why = "also " + r.effects[0].kind.String() + " " + st.holder.String()
		return
	}
	if st.holder == notAString {
		return
	}
	if r.rejected {
		t.why = "fails " + st.holder.String()
		return
	}
	t.answered(st, r)
}

// usable says that a run can be judged, and sees to it that all runs use the same key.
func (t *trial) usable(r *run) bool {
	if r.why != "" || r.peeked != 0 {
		t.why, t.peeked = r.why, r.peeked
		return false
	}
	if r.touched && t.key < 0 {
		for i := range t.call.keys {
			if t.word(t.of[i]) == r.name {
				t.key = t.of[i]
			}
		}
	}
	if r.touched && t.word(t.key) != r.name {
		t.why = "uses two keys"
		return false
	}
	return true
}

// change compares what the owner's call did with what it did before.
func (t *trial) change(st keyState, e effect) {
	op := ScriptExtend
	switch e.kind {
	case effectDelete:
		op = ScriptRelease
	case effectPast:
		// "remaining + 1" of a key without expiry is 0: see the head of scriptrecognise.go.
		if st.key.remaining != noExpiry {
			t.why = e.kind.String()
			return
		}
	}
	if t.found.op == ScriptUnknown {
		t.found.op = op
		t.laws = t.lawsFor(st, e)
	}
	if t.found.op != op {
		t.why = "deletes the key at one time and extends it at another"
		return
	}
	if op == ScriptRelease {
		return
	}
	kept := t.laws[:0]
	for _, law := range t.laws {
		if t.explains(law, st, e) {
			kept = append(kept, law)
		}
	}
	if t.laws = kept; len(kept) == 0 {
		t.why = "sets an expiry that is neither its argument nor its argument more"
	}
}

// lawsFor are the ways to come to an expiry that we can carry out.
func (t *trial) lawsFor(st keyState, e effect) []ttlLaw {
	switch {
	case e.from != 0:
		law := ttlLaw{from: int(e.from) - 1, factor: 1, asIs: true}
		if e.seconds {
			law.factor = 1000
		}
		return []ttlLaw{law}
	case t.ttl >= 0:
		return []ttlLaw{{from: t.ttl, factor: 1}, {from: t.ttl, factor: 1000},
			{from: t.ttl, factor: 1, add: true}, {from: t.ttl, factor: 1000, add: true}}
	default:
		return []ttlLaw{{from: -1, constant: e.amount, factor: 1},
			{from: -1, constant: e.amount - st.key.remaining, factor: 1, add: true}}
	}
}

func (t *trial) explains(law ttlLaw, st keyState, e effect) bool {
	if law.asIs {
		return e.from == symbol(law.from+1) && e.seconds == (law.factor == 1000)
	}
	n := law.constant
	if law.from >= 0 {
		n, _ = strconv.ParseInt(t.groups[law.from].text, 10, 64)
	}
	n *= law.factor
	if law.add {
		n += st.key.remaining
	}
	return e.from == 0 && e.amount == n
}

// answered compares an answer with those before it in the same situation.
func (t *trial) answered(st keyState, r *run) {
	o := &t.found.other
	switch st.holder {
	case owner:
		o = &t.found.owned
	case nobody:
		o = &t.found.missing
	}
	switch {
	case r.reply.text.symbol == otherHolder:
		t.why = "answers with the value of the key"
	case !o.seen:
		o.seen, o.as = true, r.reply
	case o.as != r.reply:
		t.why = "answers in more than one way " + st.holder.String()
	}
}

// conclude turns groups into positions, after all states have been passed.
func (t *trial) conclude() finding {
	f := t.found
	f.key, f.token = t.groups[t.key].first, t.groups[t.token].first
	for i, g := range t.groups {
		// Such a verdict would hold for this one value only, and the value must not be kept.
		if g.peeked && g.kind == wordLiteral && (i == t.key || i == t.token) {
			t.why = "looks into its key or its token"
		}
	}
	if f.op == ScriptExtend {
		f.ttl = t.laws[0]
		if f.ttl.from >= 0 {
			f.ttl.from = t.groups[f.ttl.from].first
		} else if f.ttl.constant <= 0 {
			t.why = "shortens the remaining time"
		}
	}
	for _, o := range []*outcome{&f.owned, &f.missing, &f.other} {
		o.fixed = Reply{Kind: o.as.kind, Int: o.as.n}
		if o.as.text.symbol != 0 {
			o.echo = t.groups[o.as.text.symbol-1].first + 1
		} else if o.as.text.text != "" {
			o.fixed.Text = []byte(o.as.text.text)
		}
	}
	return f
}
