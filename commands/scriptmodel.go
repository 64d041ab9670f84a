// The model of the keys that a script is run against.

package commands

import "slices"

// word is one text as the script meets it: a symbol, which it can compare and pass on but never look into, or plain text.
// Two words are the same text exactly if they are ==.
type word struct {
	symbol symbol
	cut    int // if not 0: the first so many bytes of what the symbol stands for, which is longer
	text   string
}

// symbol stands for a text that is unlike every other text the script can hold; 0 is none. The values of a call have the numbers of their
// groups, from 1; behind them are the values that somebody else has written.
type symbol int

const (
	otherHolder symbol = maxWords + 1 + iota // none of the call's values, and none that the script knows
	otherShort                               // the same, and no longer than what GETRANGE is asked for
	sharer                                   // the same, and it begins with run.shared
	audience                                 // no text, but how many have heard a message
)

// modelKey is what a key holds.
type modelKey struct {
	exists bool
	kind   string // what TYPE answers, if it is not a string
	value  word
	left   int64 // milliseconds; noExpiry
	life   life  // what the run has given it
}

const noExpiry = -1

// life is an expiry that a script sets.
type life struct {
	given   bool
	none    bool   // it took the expiry away
	from    symbol // the symbol that was passed as the amount, as it stood
	seconds bool   // from: it was passed for seconds
	amount  int64  // from == 0: in milliseconds
	clock   bool   // counted since 1970
}

// deed is what a run has done to a key. What counts is what has become of the key in the end: a script is one atomic step, and nobody sees
// what happens in between.
type deed uint8

const (
	nothing deed = iota
	removed
	renewed // it holds what it held, with a new expiry
	made    // it holds something else, or was missing
)

func (d deed) String() string {
	return [...]string{"changes nothing", "deletes the key", "sets an expiry", "sets the key"}[d]
}

func deedOf(was, now modelKey) deed {
	switch {
	case !was.exists && !now.exists:
		return nothing
	case !now.exists:
		return removed
	case !was.exists, was.kind != now.kind, was.value != now.value:
		return made
	case now.life.given:
		return renewed
	default:
		return nothing
	}
}

// answer is a reply or a Lua value on its way to be one.
type answer struct {
	kind  ReplyKind
	n     int64
	text  word   // a symbol only in ReplyBulk
	made  []word // in place of text: joined
	items []answer
}

func (a answer) same(b answer) bool {
	if a.kind != b.kind || a.n != b.n || a.text != b.text || !slices.Equal(a.made, b.made) || len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if !a.items[i].same(b.items[i]) {
			return false
		}
	}
	return true
}

// replyLeft, in an answer that has been merged, is how long the key lasted before the run.
const replyLeft ReplyKind = -1

// merge says whether two answers are the same, but for the time that each key had left.
func (a answer) merge(b answer, leftA, leftB int64) (answer, bool) {
	if a.kind == ReplyInt && b.kind == ReplyInt && a.n != b.n && a.n == leftA && b.n == leftB {
		return answer{kind: replyLeft}, true
	}
	if a.kind == replyLeft {
		return a, b.kind == ReplyInt && b.n == leftB
	}
	if a.kind != ReplyArray || b.kind != ReplyArray || len(a.items) != len(b.items) {
		return a, a.same(b)
	}
	merged, same := answer{kind: ReplyArray}, true
	for i := range a.items {
		item, ok := a.items[i].merge(b.items[i], leftA, leftB)
		merged.items, same = append(merged.items, item), same && ok
	}
	return merged, same
}

// counts says that an answer tells how long a key lasted.
func (a answer) counts() bool {
	return a.kind == replyLeft || slices.ContainsFunc(a.items, answer.counts)
}

// any says that f holds of one of the words in an answer.
func (a answer) any(f func(word) bool) bool {
	if f(a.text) || slices.ContainsFunc(a.made, f) {
		return true
	}
	for _, item := range a.items {
		if item.any(f) {
			return true
		}
	}
	return false
}

// run is one execution: the state it found, what it did, what it answered.
type run struct {
	keys, argv []word // KEYS and ARGV
	// The keys it may touch, what they hold, and what every other one holds that it touches: they are added.
	names    []word
	was, now []modelKey
	rest     modelKey
	shared   word         // what sharer begins with
	of       *recognition // nil: a concrete run, where every word is plain text, and no key is added

	db       int // what SELECT has chosen, -1 before
	touched  bool
	usedDB   int
	amounts  []symbol // that were passed as an expiry, as they stood
	told     []message
	timed    bool   // it has asked for how long a key lasts
	line     int    // where it called a command that may write, or 0
	past     bool   // it set an expiry that has passed, which deletes the key
	reply    answer // also of a run that was rejected or has thrown an error
	items    int    // in the arrays of reply
	why      string // set: it did what we do not do
	peeked   symbol // set: it looked into that symbol, and ended there
	thrown   bool   // it ended with an error of its own
	rejected bool   // it ended with an error that redis.call raised
}

// refuse ends the run: what it does we do not do.
func (r *run) refuse(why string) answer {
	if r.why == "" {
		r.why = OneLine(why)
	}
	return answer{}
}

// key finds a key of the model.
func (r *run) key(name word) *modelKey {
	if r.touched && r.usedDB != r.db {
		r.refuse("uses two databases")
	}
	r.touched, r.usedDB = true, r.db
	for i := range r.names {
		if r.names[i] == name {
			return &r.now[i]
		}
	}
	switch {
	case name.cut != 0:
		r.refuse("cuts the name of a key")
	case r.of == nil:
		r.refuse("touches another key than before")
	case !r.of.holds(name):
		r.refuse("touches a key that is none of its arguments or constants")
	case len(r.names) == maxKeys:
		r.refuse("touches too many keys")
	}
	r.names, r.was, r.now = append(r.names, name), append(r.was, r.rest), append(r.now, r.rest)
	return &r.now[len(r.now)-1]
}

// put sets a key. Only the words of the call and of the script itself may be written: any other would be a text that the
// script has made up, see collect.
func (r *run) put(name, value word, l life) {
	k := r.key(name)
	if r.of != nil && (value.cut != 0 || !r.of.holds(value)) {
		r.refuse("sets a value that is none of its arguments or constants")
	}
	*k = modelKey{exists: true, value: value}
	k.live(l)
}

func (k *modelKey) live(l life) {
	k.life, k.left = l, l.amount
	if l.none {
		k.left = noExpiry
	}
}

// changed says that the run has done something.
func (r *run) changed() bool {
	for i := range r.now {
		if deedOf(r.was[i], r.now[i]) != nothing {
			return true
		}
	}
	return false
}

// cutValue is GETRANGE name 0 n-1 of a string.
func (r *run) cutValue(value word, n int) word {
	switch {
	case value.symbol == 0:
		return word{text: value.text[:min(n, len(value.text))]}
	case value.symbol == sharer:
		return r.shared
	case value.symbol == otherShort || value.cut != 0:
		return value
	case value.symbol == otherHolder:
		return word{symbol: otherHolder, cut: n}
	default:
		return r.of.cutWord(value, n)
	}
}
