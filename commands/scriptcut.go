// Tokens of which only the beginning counts: a token, and behind it what its owner likes to note.

package commands

import "strings"

// maxCut bounds how many bytes of a value may be compared alone.
const maxCut = 4096

// cuts says that the script compares the first n bytes of values. It may do so with one n only.
func (c *recognition) cuts(n int) bool {
	if c.cut == 0 {
		c.cut, c.alike = n, !apart(c.call, c.known, n)
	}
	return c.cut == n
}

// cutWord is how a value of the call begins. Keys may begin alike, and their beginnings are one word then: that of the first of them,
// or the key that is no longer than that.
func (c *recognition) cutWord(w word, n int) word {
	if w.symbol == 0 {
		return word{text: w.text[:min(n, len(w.text))]}
	}
	first := c.groups[w.symbol-1].first
	if len(c.call.value[first]) <= n {
		return w
	}
	for i := range c.call.keys {
		if c.call.alike(i, first, n) && len(c.call.value[i]) <= n {
			return word{symbol: symbol(c.of[i] + 1)}
		}
	}
	return word{symbol: symbol(c.of[c.call.twins(n)[first]] + 1), cut: n}
}

// alike: two opaque keys that begin in the same way.
func (w *callWords) alike(i, j, n int) bool {
	return i < w.keys && j < w.keys && !w.known[i] && !w.known[j] && beginning(w.value[i], n) == beginning(w.value[j], n)
}

// twins are, by position, the first key that begins alike, or the position itself.
func (w *callWords) twins(n int) (first [maxWords]uint8) {
	for i := range w.n {
		j := 0
		for j < i && !w.alike(j, i, n) {
			j++
		}
		first[i] = uint8(j)
	}
	return first
}

// twinShown: the script looks into a key that begins as another one does. Then one of them is a text and the other a symbol,
// and what they have in common would be lost.
func (c *recognition) twinShown() bool {
	for i := range c.call.keys {
		for j := range c.call.keys {
			if c.groups[c.of[i]].kind != wordOpaque && c.of[i] != c.of[j] && c.call.alike(i, j, c.cut) {
				return true
			}
		}
	}
	return false
}

// apart is the condition for a symbol's beginning to be a symbol as well: no other value of the call, and no text that the script
// knows, begins in the same way. Two keys may, as keys do: which ones do belongs to the shape (twins).
func apart(w *callWords, known *knownScript, n int) bool {
	for i := range w.n {
		if w.known[i] || int(w.same[i]) != i {
			continue
		}
		mine := beginning(w.value[i], n)
		for j := range w.n {
			if w.same[j] != w.same[i] && !w.alike(i, j, n) && beginning(w.value[j], n) == mine {
				return false
			}
		}
		for _, text := range known.sorted {
			if len(mine) == n && strings.HasPrefix(text, mine) {
				return false
			}
		}
	}
	return true
}

func beginning(value []byte, n int) string { return string(value[:min(n, len(value))]) }

// sharers are the values that begin as something in play does, and go on otherwise.
func (c *recognition) sharers() (shared []word) {
	if c.cut == 0 {
		return nil
	}
	seen := make(map[word]bool)
	add := func(w word) {
		if !seen[w] {
			seen[w] = true
			shared = append(shared, w)
		}
	}
	for g := range c.groups {
		if len(c.call.value[c.groups[g].first]) >= c.cut {
			add(c.cutWord(c.word(g), c.cut))
		}
	}
	for _, text := range c.texts() {
		if len(text) >= c.cut {
			add(word{text: text[:c.cut]})
		}
	}
	return shared
}
