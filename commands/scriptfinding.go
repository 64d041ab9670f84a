// The verdict on a script, and how a call is filled in by it.

package commands

import (
	"math"
	"slices"
)

// finding is a verdict: which operation, on which words of the call, with which replies.
type finding struct {
	law            *law
	line           int // where it may write
	db             int // -1: that of the connection
	prefix         int
	least          int64 // Extend: how many milliseconds have to be left, if not 0
	keys, tokens   []source
	was            source // of a swap
	ttl            ttlLaw
	amounts        []int // positions of what is passed as an expiry, be it that nothing comes of it: Redis refuses it if it is no number
	told           [][2]source
	missing, owned outcome
	other          outcome
}

// source is where a word of the verdict comes from.
type source struct {
	position int // -1: text
	text     []byte
}

func (s source) of(w *callWords) []byte {
	if s.position < 0 {
		return s.text
	}
	return w.value[s.position]
}

func all(sources []source, w *callWords) [][]byte {
	values := make([][]byte, len(sources))
	for i, s := range sources {
		values[i] = s.of(w)
	}
	return values
}

// outcome is a reply that may hold values of the call.
type outcome struct {
	fixed  Reply
	echoes bool
	as     answer // echoes: its symbols are positions, from 1
}

func (o *outcome) reply(w *callWords) Reply {
	if o.echoes {
		return replyOf(o.as, w)
	}
	return o.fixed
}

func replyOf(a answer, w *callWords) Reply {
	r := Reply{Kind: a.kind, Int: a.n}
	switch {
	case a.made != nil:
		r.Text = joined(a, w)
	case a.text.symbol != 0:
		r.Text = w.value[a.text.symbol-1]
	case a.kind != ReplyInt && a.kind != ReplyNil && a.kind != ReplyArray:
		r.Text = []byte(a.text.text)
	}
	for _, item := range a.items {
		r.Items = append(r.Items, replyOf(item, w))
	}
	return r
}

// joined is a made text. A status or an error is one line.
func joined(a answer, w *callWords) []byte {
	var text []byte
	for _, part := range a.made {
		if part.symbol != 0 {
			text = append(text, w.value[part.symbol-1]...)
		} else {
			text = append(text, part.text...)
		}
	}
	if a.kind != ReplyBulk {
		return []byte(OneLine(string(text)))
	}
	return text
}

// fill tells what the script does in a call.
func (sh *shape) fill(c *Command, w *callWords, known *knownScript, keys, args [][]byte) error {
	if sh.why != "" {
		return refusal(known.sha, sh.why)
	}
	l := sh.law
	c.Verb, c.Own, c.Each, c.Prefix, c.DB = l.verb, l.own, l.each, sh.prefix, sh.db
	switch {
	case len(sh.keys) != 1, c.Verb == Inspect, c.Verb == Delete:
		c.Keys = all(sh.keys, w)
		if sh.tokens != nil {
			c.Tokens = all(sh.tokens, w)
		}
	default:
		c.Key, c.Token = sh.keys[0].of(w), sh.tokens[0].of(w)
	}
	if l.swap {
		c.If, c.Was = IfEqual, sh.was.of(w)
	}
	for _, i := range sh.amounts {
		if _, ok := plainTTL(w.value[i]); !ok {
			return refusal(known.sha, badTTL(w.value[i]))
		}
	}
	if c.Verb == Take || c.Verb == Extend || c.Verb == Overwrite {
		sh.expiry(c, w)
	}
	c.Publish = sh.messages(w)
	c.Missing, c.Owned, c.Other = sh.missing.reply(w), sh.owned.reply(w), sh.other.reply(w)
	if c.Verb == Inspect || c.Other.Kind == ReplyComputed {
		c.Compute = (&computation{known, keys, args, all(sh.keys, w), c.Verb == Inspect}).compute
	}
	if sh.least > 0 {
		lookFirst(c, &computation{known, keys, args, all(sh.keys, w), true})
	}
	return nil
}

func (sh *shape) expiry(c *Command, w *callWords) {
	law := &sh.ttl
	if law.none {
		c.Add, c.Expiry = false, Expiry{}
		return
	}
	n := law.constant
	if law.from >= 0 {
		n, _ = plainTTL(w.value[law.from]) // it is plain: amounts, or the shape, say so
	}
	c.Add, c.Expiry = law.add, Expiry{FromNow, milliseconds(n, law.factor)}
	if law.clock {
		c.Expiry.Kind = SinceEpoch
	}
}

// milliseconds ends where an Expiry ends, instead of overflowing.
func milliseconds(n, factor int64) int64 {
	if n > (math.MaxInt64-farFuture)/factor {
		return math.MaxInt64 - farFuture
	}
	return n * factor
}

// conclude turns groups into positions, after all states have been passed.
func (t *trial) conclude() finding {
	f := finding{law: t.left[0], line: t.line, db: max(t.db, -1)}
	t.roles = t.found
	f.keys = t.sources(t.names)
	switch l := f.law; {
	case len(t.names) == 0:
		t.why = "touches no key"
	case l.verb == Inspect || l.verb == Delete:
	case len(t.names) > 1 && l.verb == Overwrite:
		t.why = "overwrites several keys"
	case t.prefix && l.verb != Take:
		t.why = "compares only the beginning of its token"
	default:
		f.tokens = t.sources(t.tokens)
	}
	if f.law.swap && f.tokens != nil {
		f.was, f.tokens = f.tokens[0], t.sources([]word{t.becomes})
	}
	if t.prefix {
		f.prefix = t.cut
	}
	if t.stopped() {
		return f
	}
	for _, sym := range t.amounts {
		f.amounts = append(f.amounts, t.groups[sym-1].first)
	}
	if len(t.lives) > 0 {
		f.ttl = t.lives[0]
		switch {
		case f.ttl.from >= 0:
			f.ttl.from = t.groups[f.ttl.from].first
		case !f.ttl.none && f.ttl.constant <= 0:
			t.why = "shortens the remaining time"
		}
		if f.ttl.add && len(t.names) > 1 {
			t.why = "adds to the remaining times of several keys"
		}
	}
	if f.law.verb == Extend {
		t.least(&f)
	}
	for _, m := range t.told {
		words := t.sources([]word{m.channel, m.text})
		f.told = append(f.told, [2]source{words[0], words[1]})
	}
	t.replies(&f)
	return f
}

// sources are where words come from.
func (t *trial) sources(words []word) []source {
	all := make([]source, len(words))
	for k, w := range words {
		all[k] = source{position: -1, text: []byte(w.text)}
		if w.symbol != 0 {
			all[k] = source{position: t.groups[w.symbol-1].first}
			continue
		}
		for i, g := range t.groups {
			if i == t.ttl && w.text == t.first {
				all[k] = source{position: g.first}
			}
			// Such a verdict would hold for this one value only, and the value must not be kept.
			if g.peeked && g.kind == wordLiteral && g.text == w.text {
				t.why = "looks into its key or its token"
			}
		}
	}
	return all
}

// row gathers the answers of one kind of states.
type row struct {
	seen, varies bool
	answer       answer
}

func (r *row) add(s *sighting) {
	if !r.seen {
		r.seen, r.varies, r.answer = true, s.varies, s.answer
	}
	r.varies = r.varies || s.varies || !r.answer.same(s.answer)
}

// plain says that the row has one answer, made of the script's and the call's own words.
func (r *row) plain() bool {
	return !r.varies && !r.answer.counts() && !r.answer.any(func(w word) bool { return w.symbol > maxWords || w.cut != 0 })
}

// replies finds out what is answered.
func (t *trial) replies(f *finding) {
	if f.law.verb == Inspect {
		return
	}
	var missing, owned, other, denied row
	counts := true
	for _, when := range t.order {
		if when.spared && f.law.verb == Extend {
			continue
		}
		h, s := when.holders, t.answers[when]
		held := h.owner
		if f.law.verb == Delete {
			held += h.other
		}
		counts = counts && !s.varies && s.answer.kind == ReplyInt && s.answer.n == int64(held)
		switch {
		case f.law.missing(h):
			missing.add(s)
		case f.law.owned(h):
			owned.add(s)
		default:
			other.add(s)
			if h.owner > 0 && h.nobody+h.other == 0 {
				denied.add(s)
			}
		}
	}
	counted := Reply{Kind: ReplyCount}
	switch {
	case counts && (f.law.verb == Delete || f.law.each):
		f.missing.fixed, f.owned.fixed, f.other.fixed = counted, counted, counted
		return
	case f.law.verb == Delete && len(t.names) == 1 && missing.plain() && other.plain():
		f.missing = t.outcome(missing.answer)
		f.owned = t.outcome(other.answer) // whoever held it
		f.other = f.owned
		return
	case f.law.verb == Delete:
		t.why = "does not answer how many keys it has deleted"
	case missing.answer.any(isAudience) || owned.answer.any(isAudience):
		t.why = "answers how many have heard its message"
	case !missing.plain():
		t.why = "answers in more than one way " + nobody.String()
	case !owned.plain() && !(f.least > 0 && !owned.varies):
		t.why = "answers in more than one way " + owner.String()
	case denied.seen && denied.answer.same(missing.answer) && (other.varies || denied.varies):
		t.why = "answers " + owner.String() + " as if it had just been taken, and changes nothing"
	}
	if t.stopped() {
		return
	}
	f.missing = t.outcome(missing.answer)
	if f.least > 0 {
		other.varies = true // it also answers when it comes too late
	} else {
		f.owned = t.outcome(owned.answer)
	}
	if other.plain() {
		f.other = t.outcome(other.answer)
	} else {
		f.other.fixed.Kind = ReplyComputed
	}
	switch {
	case f.law.each || f.law.regardless: // one answer, whatever was found
		f.missing, f.other = f.owned, f.owned
	case f.law.swap && (!other.plain() || !other.answer.same(missing.answer)):
		f.missing.fixed, f.other = Reply{Kind: ReplyComputed}, outcome{fixed: Reply{Kind: ReplyComputed}}
	case f.law.verb == Take && f.law.own == OwnRefused:
		f.owned = f.other
	}
}

// outcome is an answer with positions in place of groups.
func (t *trial) outcome(a answer) outcome {
	o := outcome{as: t.positions(a)}
	o.echoes = a.any(func(w word) bool { return w.symbol != 0 })
	if !o.echoes {
		o.fixed = replyOf(o.as, nil)
	}
	return o
}

func (t *trial) positions(a answer) answer {
	position := func(w word) word {
		if w.symbol != 0 {
			return word{symbol: symbol(t.groups[w.symbol-1].first + 1)}
		}
		return w
	}
	a.text = position(a.text)
	a.made = slices.Clone(a.made)
	for i, part := range a.made {
		a.made[i] = position(part)
	}
	items := a.items
	a.items = nil
	for _, item := range items {
		a.items = append(a.items, t.positions(item))
	}
	return a
}
