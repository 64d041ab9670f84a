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

// cutWord is how a value of the call begins.
func (c *recognition) cutWord(w word, n int) word {
	if w.symbol == 0 {
		return word{text: w.text[:min(n, len(w.text))]}
	}
	if len(c.call.value[c.groups[w.symbol-1].first]) <= n {
		return w
	}
	return word{symbol: w.symbol, cut: n}
}

// apart is the condition for a symbol's beginning to be a symbol as well: no other value of the call, and no text that the script
// knows, begins in the same way.
func apart(w *callWords, known *knownScript, n int) bool {
	for i := range w.n {
		if w.known[i] || int(w.same[i]) != i {
			continue
		}
		mine := beginning(w.value[i], n)
		for j := range w.n {
			if w.same[j] != w.same[i] && beginning(w.value[j], n) == mine {
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
