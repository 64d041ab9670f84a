// Recognition: what a script does in every state of a key that it can tell apart, compared with what a release or an extend does.
//
// # Why a recognised script can be replaced
//
// A wrong "release" would delete somebody's lock, so the comparison has to hold for all tokens, not for those that were tried.
// A script is therefore run with symbols: each distinct value of the call, and the value that another holder wrote, is an object of its own
// that the script can compare for equality, pass on and return, and nothing else. Arithmetic, order, length, indexing, tonumber
// on it end the run ("peeked"). Equality of two symbols is known: they are the same value or they are not.
//
// So a run depends on the values behind its symbols only through their equality with texts that the script holds in some other way. By the
// law at knownScript.collect those are the constants of its text and a few fixed words, knownScript.texts. A symbol stands only
// for a value that is none of them; a value that is one of them is shown as it is. Replacing the symbols of a run by any other values with the
// same equalities then changes none of its steps: one run speaks for all of them.
//
// The state of the key is drawn from the same words: missing; held by each value of the call; by each text that the script knows; by
// something else; each with several remaining times and with none; not a string. There is no further state that the script could tell
// apart, but for the remaining time (and the expiry, if it is calculated with): those are numbers, and tried out, around every number in the
// script too. That is the one gap: a script
// that goes another way at a number which it hides by arithmetic, and that no probe comes near, is taken for what it does elsewhere. What we carry
// out then is still a release or an extend by the token's owner, and so never touches a lock of somebody else.
//
// The verdict: a release deletes the key in each state where it holds one certain value of the call, its token, and changes nothing in any
// other; an extend sets the expiry there to the same function of the same value, or adds it to the remaining time. One change, no more. The
// replies are one in all states where the token's owner calls, one where the key is missing, one where another holds it.
//
// Two states bind less. A key that is not a string only has to be left alone: what to answer is the nodes' affair. A key without
// expiry need not be extended (redis-py returns 0): every lock ends (R8), so redlockd leaves no such key.

package commands

// otherHolder is the symbol of a value that is none of the call's and none that the script knows.
const otherHolder symbol = maxWords + 1

// group is one distinct value of the call, with the positions that hold it.
type group struct {
	kind   wordKind
	peeked bool // the script looks into it, so that its kind is wordLiteral, or wordTTL if expiries are made of it
	text   string
	first  int // position
}

// recognition is the work on one shape of one script.
type recognition struct {
	known  *knownScript
	call   *callWords
	groups []group
	of     [maxWords]int // position → group
	box    *sandbox
	ttl    int    // the group that takes probe values as expiry, or -1
	why    string // set: refused
	peeked symbol // set: start again, showing this symbol's value
}

// recognise returns the shape of the call with its verdict, and whether the shape may be kept.
func recognise(known *knownScript, call *callWords) (sh *shape, keep bool) {
	c := &recognition{known: known, call: call}
	for i := range call.n {
		first := int(call.same[i])
		if first == i {
			g := group{first: i, text: string(call.value[i])}
			if call.known[i] {
				g.kind = wordLiteral
			}
			c.groups = append(c.groups, g)
			c.of[i] = len(c.groups) - 1
		} else {
			c.of[i] = c.of[first]
		}
	}
	c.box = newSandbox(known.proto)
	var f finding
	for {
		c.why, c.peeked = "", 0
		f = c.attempt()
		if c.peeked == 0 {
			break
		}
		if c.peeked == otherHolder {
			c.why = "looks into the value of the key"
			c.showAsGiven()
			break
		}
		g := &c.groups[c.peeked-1] // symbols are shown once each, so that this ends
		g.kind, g.peeked = wordLiteral, true
	}
	return c.shape(f)
}

func (c *recognition) shape(f finding) (sh *shape, keep bool) {
	sh = &shape{keys: c.call.keys, n: c.call.n, same: c.call.same, literal: make([]string, c.call.n), why: c.why, finding: f}
	keep = true
	for i := range c.call.n {
		g := c.groups[c.of[i]]
		sh.kind[i] = g.kind
		if g.kind == wordLiteral {
			sh.literal[i] = g.text
		}
		// In a refused call nobody knows whether the value that the script looked into is a token.
		if g.peeked && g.kind == wordLiteral && (c.why != "" || len(g.text) > maxLiteral) {
			keep = false
		}
	}
	return sh, keep
}

// attempt goes through all states, with the present knowledge of what the script looks into.
func (c *recognition) attempt() finding {
	c.chooseTTL()
	if c.stopped() {
		return finding{}
	}
	t := &trial{recognition: c, ttls: c.ttlProbes()}
	t.discover()
	if c.stopped() {
		return finding{}
	}
	for _, ttl := range t.ttls {
		t.ttlText(ttl)
		for _, st := range t.states() {
			t.check(st)
			if c.stopped() {
				return finding{}
			}
		}
	}
	return t.conclude()
}

func (c *recognition) stopped() bool { return c.why != "" || c.peeked != 0 }

// chooseTTL finds the value, among those that the script looks into, that decides the expiry it sets. The others are flags.
func (c *recognition) chooseTTL() {
	c.showAsGiven()
	for g := range c.groups {
		if !c.groups[g].peeked {
			continue
		}
		c.groups[g].kind = wordTTL
		c.ttl = g
		for token := range c.groups {
			a, b := c.expiryWith(token, "7919"), c.expiryWith(token, "60013")
			if a != b && a != 0 && b != 0 {
				return
			}
			if c.peeked != 0 {
				return
			}
		}
		c.showAsGiven()
	}
}

// showAsGiven puts the call's own values where the script looks.
func (c *recognition) showAsGiven() {
	c.ttl = -1
	for i := range c.groups {
		if g := &c.groups[i]; g.peeked {
			g.kind, g.text = wordLiteral, string(c.call.value[g.first])
		}
	}
}

// expiryWith returns the expiry that a run sets, or 0.
func (c *recognition) expiryWith(token int, ttl string) int64 {
	c.groups[c.ttl].text = ttl
	r := c.run(modelKey{exists: true, value: c.word(token), remaining: 1500})
	if r.peeked != 0 {
		c.peeked = r.peeked
	}
	if r.why != "" || r.peeked != 0 || len(r.effects) != 1 {
		return 0
	}
	return r.effects[0].amount
}

func (c *recognition) word(g int) word {
	if c.groups[g].kind == wordOpaque {
		return word{symbol: symbol(g + 1)}
	}
	return word{text: c.groups[g].text}
}

func (c *recognition) run(key modelKey) *run {
	r := &run{key: key}
	for i := range c.call.n {
		if w := c.word(c.of[i]); i < c.call.keys {
			r.keys = append(r.keys, w)
		} else {
			r.argv = append(r.argv, w)
		}
	}
	c.box.execute(r)
	return r
}
