// The table of our operations: what becomes of a key, by what all keys hold.

package commands

// holder says who has a key in a state.
type holder uint8

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

// holders are those of all keys, counted.
type holders struct{ nobody, owner, other, odd int }

func (h *holders) count(who holder, n int) {
	switch who {
	case nobody:
		h.nobody += n
	case owner:
		h.owner += n
	case somebodyElse:
		h.other += n
	default:
		h.odd += n
	}
}

func (h holders) allMissing() bool { return h.owner+h.other+h.odd == 0 }
func (h holders) allOwned() bool   { return h.nobody+h.other+h.odd == 0 }

// law is one row: an operation, and what it does with a key of the given holder while h hold all of them.
type law struct {
	verb Verb
	own  Own
	each bool // Release
	swap bool // Overwrite: only if the token holds the key, by another value
	want func(h holders, who holder) deed
	// missing and owned say which answer belongs to a state; all others get that of a denial.
	missing, owned func(h holders) bool
	// regardless of who holds the key, also if it is not a string.
	regardless bool
}

// when is a deed on a condition.
func when(ok bool, d deed) deed {
	if ok {
		return d
	}
	return nothing
}

func never(holders) bool  { return false }
func always(holders) bool { return true }

// laws stand in the order in which they are preferred where a script obeys several, as one of a single key does.
var laws = []*law{
	{verb: Inspect, want: func(holders, holder) deed { return nothing }, missing: never, owned: never},
	{verb: Release, missing: holders.allMissing, owned: holders.allOwned,
		want: func(h holders, _ holder) deed { return when(h.allOwned(), removed) }},
	{verb: Release, each: true, missing: never, owned: always,
		want: func(_ holders, who holder) deed { return when(who == owner, removed) }},
	{verb: Extend, missing: holders.allMissing, owned: holders.allOwned,
		want: func(h holders, _ holder) deed { return when(h.allOwned(), renewed) }},
	{verb: Take, missing: holders.allMissing, owned: never,
		want: func(h holders, _ holder) deed { return when(h.allMissing(), made) }},
	{verb: Take, own: OwnEach, missing: holders.allMissing, owned: func(h holders) bool { return h.owner > 0 && h.other+h.odd == 0 },
		want: func(h holders, _ holder) deed { return when(h.other+h.odd == 0, made) }},
	{verb: Take, own: OwnAll, missing: holders.allMissing, owned: holders.allOwned,
		want: func(h holders, _ holder) deed { return when(h.allMissing() || h.allOwned(), made) }},
	{verb: Overwrite, swap: true, missing: holders.allMissing, owned: holders.allOwned,
		want: func(_ holders, who holder) deed { return when(who == owner, made) }},
	{verb: Overwrite, regardless: true, missing: never, owned: always,
		want: func(holders, holder) deed { return made }},
	{verb: Delete, regardless: true, missing: holders.allMissing, owned: never,
		want: func(_ holders, who holder) deed { return when(who != nobody, removed) }},
}

// obeys says that a run did to key i what the law says.
func (t *trial) obeys(l *law, st *state, r *run, i int) bool {
	was, now := st.keys[i], r.now[i]
	got := deedOf(was, now)
	if st.who[i] == notAString {
		return got == nothing || l.regardless && (!now.exists || now.kind == "")
	}
	if st.count.odd > 0 {
		return true // the script may have failed midway
	}
	want := l.want(st.count, st.who[i])
	if want == made {
		if l.swap && got != made {
			return false // an extend
		}
		return now.exists && now.kind == "" && now.life.given && now.value == t.written(l, i)
	}
	return got == want && !(got == removed && r.past)
}

// written is what the law sets key i to.
func (t *trial) written(l *law, i int) word {
	if l.swap {
		return t.becomes
	}
	return t.tokens[i]
}

// complaint says what the run did that the law does not do.
func (t *trial) complaint(l *law, st *state, r *run) string {
	for i := range st.keys {
		if t.obeys(l, st, r, i) {
			continue
		}
		switch got := deedOf(st.keys[i], r.now[i]); {
		case r.past:
			return "sets an expiry that has passed"
		case got == nothing:
			return "does not always change the key " + st.who[i].String()
		case l.want(st.count, st.who[i]) == nothing:
			return "also " + got.String() + " " + st.who[i].String()
		default:
			return got.String() + ", otherwise than in other states, " + st.who[i].String()
		}
	}
	return "does what no operation of locks does"
}
