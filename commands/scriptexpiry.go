// How a script comes to the expiry that it sets.

package commands

import (
	"slices"
	"strconv"
)

// ttlLaw explains an expiry.
type ttlLaw struct {
	none     bool  // there is none
	from     int   // the position of the expiry, or -1: constant
	constant int64 // from == -1: written in the script
	factor   int64 // milliseconds per unit
	clock    bool  // since 1970
	add      bool  // to the remaining time
	asIs     bool  // during the trial: passed on untouched, so that from is a symbol's group
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
	return c.around([]int64{usualLeft, longLeft, 1, 499, 60_000, maxTTL}, 1, maxTTL)
}

// lefts are the remaining times to try. They play no part unless the script has asked for one.
func (t *trial) lefts() []int64 {
	if t.timed {
		return append(t.remainingProbes(), noExpiry)
	}
	return []int64{usualLeft, noExpiry}
}

// around adds n-1, n, n+1 for each number n of the script, also one that it is given and looks into, and n as seconds for milliseconds and back.
func (c *recognition) around(probes []int64, low, high int64) []int64 {
	seen := make(map[int64]bool)
	for _, p := range probes {
		seen[p] = true
	}
	numbers := slices.Clone(c.known.numbers)
	for _, g := range c.groups {
		if n, ok := plainTTL([]byte(g.text)); ok && g.peeked && g.kind == wordLiteral {
			numbers = append(numbers, n)
		}
	}
	for _, n := range numbers {
		for _, p := range []int64{n, n - 1, n + 1, n / 1000, n * 1000, (n + 1) * 1000} {
			if p >= low && p <= high && !seen[p] {
				seen[p] = true
				probes = append(probes, p)
			}
		}
	}
	return probes
}

// firstTTL puts a number in the place of the expiry that is no text of the script's or the call's.
func (t *trial) firstTTL() {
	if t.ttl < 0 {
		return
	}
	for n := int64(7919); ; n++ {
		if t.first = strconv.FormatInt(n, 10); !t.taken(t.first) {
			t.groups[t.ttl].text = t.first
			return
		}
	}
}

func (t *trial) taken(text string) bool {
	_, known := t.known.texts[text]
	return known || t.literal(text)
}

// literal says that a flag of the call has that text.
func (t *trial) literal(text string) bool {
	for _, g := range t.groups {
		if g.kind == wordLiteral && g.text == text {
			return true
		}
	}
	return false
}

// ttlText puts a probe in the place of the expiry, whatever other part that plays. One that equals a flag of the call is left out (the number
// before it stays): equal values are another shape.
func (t *trial) ttlText(ttl int64) {
	text := strconv.FormatInt(ttl, 10)
	if t.ttl < 0 || t.literal(text) {
		return
	}
	t.groups[t.ttl].text = text
	now := func(w word) word {
		if w == (word{text: t.first}) {
			w.text = text
		}
		return w
	}
	t.becomes, t.names, t.tokens = now(t.found.becomes), nil, nil
	for _, w := range t.found.names {
		t.names = append(t.names, now(w))
	}
	for _, w := range t.found.tokens {
		t.tokens = append(t.tokens, now(w))
	}
}

// expiries strikes out the laws that do not explain what a run has set.
func (t *trial) expiries(st *state, r *run) {
	for i, k := range r.now {
		if !k.exists || !k.life.given || st.who[i] == notAString {
			continue
		}
		if t.lives == nil {
			t.lives = t.lawsFor(st.keys[i], k.life)
		}
		kept := t.lives[:0]
		for _, law := range t.lives {
			if t.explains(law, st.keys[i], k.life) {
				kept = append(kept, law)
			}
		}
		if t.lives = kept; len(kept) == 0 {
			t.why = "sets an expiry that is neither its argument nor its argument more"
			return
		}
	}
}

// lawsFor are the ways to come to an expiry that we can carry out.
func (t *trial) lawsFor(was modelKey, l life) []ttlLaw {
	switch {
	case l.none:
		return []ttlLaw{{none: true, from: -1}}
	case l.from != 0:
		law := ttlLaw{from: int(l.from) - 1, factor: 1, asIs: true, clock: l.clock}
		if l.seconds {
			law.factor = 1000
		}
		return []ttlLaw{law}
	case t.ttl >= 0:
		return []ttlLaw{{from: t.ttl, factor: 1, clock: l.clock}, {from: t.ttl, factor: 1000, clock: l.clock},
			{from: t.ttl, factor: 1, add: true}, {from: t.ttl, factor: 1000, add: true}}
	default:
		return []ttlLaw{{from: -1, constant: l.amount, factor: 1, clock: l.clock},
			{from: -1, constant: l.amount - was.left, factor: 1, add: true}}
	}
}

func (t *trial) explains(law ttlLaw, was modelKey, l life) bool {
	if law.none || l.none {
		return law.none == l.none
	}
	if law.asIs {
		return l.from == symbol(law.from+1) && l.seconds == (law.factor == 1000) && l.clock == law.clock
	}
	n := law.constant
	if law.from >= 0 {
		n, _ = strconv.ParseInt(t.groups[law.from].text, 10, 64)
	}
	n *= law.factor
	if law.add {
		if !was.exists {
			return false
		}
		n += was.left
	}
	return l.from == 0 && l.amount == n && l.clock == law.clock
}
