// Recognition: what a script does in every state of its keys that it can tell apart, compared with what our operations do.
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
// Texts may be made of symbols (joined, formatted), but then only logged or answered: scriptmade.go.
//
// One thing more may be done with a symbol: to take the first n bytes of it (string.sub, GETRANGE), n being the same everywhere. The result is
// a symbol again. Which of the call's values are shorter or longer than n, and which keys begin alike, belongs to the shape of the call, and apart sees
// to it that no other texts in play begin alike, so that the equalities are known here too.
//
// The state of a key is drawn from the same words: missing; held by each value of the call; by each text that the script knows; by
// something else; with an expiry and without, and with several remaining times if the script asks for one; not a string, of each type that it could
// name. There is no further state of one key that the script could tell apart, but for the remaining time (and the expiry, if it is calculated
// with): those are numbers, and tried out, around every number in the script too. That is the one gap: a script that goes another way at
// a number which it hides by arithmetic, and that no probe comes near, is taken for what it does elsewhere. What we carry
// out then is still an operation that touches no lock of somebody else.
//
// Of several keys, up to three are tried in all combinations of missing, held by the token, held by another; of more, all states in
// which at most two keys differ from the others, and each key alone in every state of one key. What we carry out is the same for every
// key, so that a script that treats one key apart is caught as soon as that one differs.
//
// The verdict is a row of the table in scriptlaws.go: what becomes of each key in each state. The replies are one in all states in which the
// operation is granted, and in those in which it is denied either one, or calculated by the script itself (scriptcompute.go), which then
// changes nothing. An inspection is calculated always: whatever recognition might have missed about it, it cannot write.
//
// Two states bind less. A key that is not a string only has to be left alone: what to answer is the nodes' affair. A key without
// expiry need not be extended (redis-py returns 0): every lock ends (R8), so redlockd leaves no such key.

package commands

import (
	"cmp"
	"fmt"
	"slices"
)

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
	ttl    int             // the group that takes probe values as expiry, or -1
	minted map[string]bool // of mintedTexts, those that it has got hold of
	cut    int             // how many bytes of values are compared; 0: all
	alike  bool            // the law of cut does not hold of this call: see apart
	why    string          // set: refused
	forget bool            // the refusal holds for this call only
	peeked symbol          // set: start again, showing this symbol's value
}

// recognise returns the shape of the call with its verdict, and whether the shape may be kept.
func recognise(known *knownScript, call *callWords) (sh *shape, keep bool) {
	c := &recognition{known: known, call: call, box: newSandbox(known), minted: make(map[string]bool)}
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
	var f finding
	for {
		c.why, c.peeked = "", 0
		cut, minted := c.cut, len(c.minted)
		f = c.attempt()
		if c.alike || c.cut > 0 && c.twinShown() {
			c.why, c.forget = "compares the beginnings of arguments that begin alike", true
			break
		}
		if c.peeked == 0 && (c.why != "" || c.cut == cut && len(c.minted) == minted) {
			break
		}
		if c.peeked > maxWords {
			c.why = "looks into the value of the key"
			if c.peeked == audience {
				c.why = "depends on how many have heard its message"
			}
			c.showAsGiven()
			break
		}
		if c.peeked != 0 {
			g := &c.groups[c.peeked-1] // symbols are shown once each, so that this ends
			if len(g.text) > maxText {
				c.why, c.forget = fmt.Sprintf("looks into a text of more than %d bytes", maxText), true
				break
			}
			g.kind, g.peeked = wordLiteral, true
		}
	}
	return c.shape(f)
}

func (c *recognition) shape(f finding) (sh *shape, keep bool) {
	sh = &shape{inKeys: c.call.keys, n: c.call.n, same: c.call.same, literal: make([]string, c.call.n), why: c.why, finding: f}
	keep = !c.forget
	if sh.cut = c.cut; sh.cut > 0 {
		sh.twins = c.call.twins(sh.cut)
	}
	for i := range c.call.n {
		g := c.groups[c.of[i]]
		sh.kind[i] = g.kind
		sh.length[i] = cmp.Compare(len(c.call.value[i]), c.cut)
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
	for t.again = true; t.again; {
		t.start()
		switch {
		case t.stopped():
		case t.tokens != nil && len(t.tokens) < len(t.names): // a key was met when the token had been found
			t.more, t.again = t.names, true
		default:
			t.all()
		}
	}
	if t.stopped() {
		return finding{}
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
		decides := c.decides()
		if c.peeked != 0 {
			return
		}
		if !decides {
			c.showAsGiven()
			continue
		}
		given := c.call.value[c.groups[g].first]
		if _, plain := plainTTL(given); plain {
			return
		}
		c.showAsGiven()
		// The script may take what is not positive for "no expiry". For anything else see plainTTL.
		if n, err := parseInt(given); err != nil || n > 0 {
			c.why, c.forget = badTTL(given), true
		}
		return
	}
}

// badTTL is the complaint about an expiry that is given to a script.
func badTTL(given []byte) string {
	return fmt.Sprintf("is given the expiry %s, and redlockd takes a whole number from 1 to %d", OneLine(quoted(string(given))), int64(maxTTL))
}

// decides says that the expiries that the script sets depend on the value that is tried as c.ttl.
func (c *recognition) decides() bool {
	for holder := -1; holder < len(c.groups); holder++ {
		a, b := c.amountWith(holder, "7919"), c.amountWith(holder, "60013")
		if a != b && a != 0 && b != 0 {
			return true
		}
		if c.peeked != 0 {
			return false
		}
	}
	return false
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

// amountWith returns the expiry that a run sets where all keys are missing (-1), or hold a group's value, or 0.
func (c *recognition) amountWith(holder int, ttl string) int64 {
	c.groups[c.ttl].text = ttl
	rest := modelKey{}
	if holder >= 0 {
		rest = modelKey{exists: true, value: c.word(holder), left: longLeft}
	}
	r := c.run(nil, nil, rest)
	if r.peeked != 0 {
		c.peeked = r.peeked
	}
	if r.why != "" || r.peeked != 0 {
		return 0
	}
	for _, k := range r.now {
		if k.life.amount != 0 {
			return k.life.amount
		}
	}
	return 0
}

func (c *recognition) word(g int) word {
	if c.groups[g].kind == wordOpaque {
		return word{symbol: symbol(g + 1)}
	}
	return word{text: c.groups[g].text}
}

// texts are those that the script may compare with what it reads.
func (c *recognition) texts() []string {
	all := slices.Clone(c.known.own)
	for _, text := range c.known.sorted {
		if _, own := slices.BinarySearch(c.known.own, text); !own && c.minted[text] {
			all = append(all, text)
		}
	}
	return all
}

// holds says that a word is one of the call's, or of the script's own.
func (c *recognition) holds(w word) bool {
	if w.symbol != 0 {
		return w.symbol <= maxWords && w.cut == 0
	}
	if _, ok := c.known.texts[w.text]; ok {
		return true
	}
	for g := range c.groups {
		if c.word(g) == w {
			return true
		}
	}
	return false
}

func (c *recognition) run(names []word, keys []modelKey, rest modelKey) *run {
	return c.runWith(names, keys, rest, word{})
}

func (c *recognition) runWith(names []word, keys []modelKey, rest modelKey, shared word) *run {
	r := &run{of: c, names: append([]word(nil), names...), now: append([]modelKey(nil), keys...), rest: rest, shared: shared}
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
