// The states in which a script is tried.

package commands

import "iter"

// state is what every key of a trial holds.
type state struct {
	keys   []modelKey
	who    []holder
	count  holders
	shared word
}

// cell is what one key may hold.
type cell struct {
	who    holder
	key    modelKey
	shared word
}

// Two remaining times in milliseconds: a short one, and one that is longer than what scripts ask for at least.
const (
	usualLeft = 1500
	longLeft  = 86_400_001
)

func present(who holder, value word, left int64) cell {
	return cell{who: who, key: modelKey{exists: true, value: value, left: left}}
}

func odd(kind string, left int64) cell {
	return cell{who: notAString, key: modelKey{exists: true, kind: kind, left: left}}
}

func (c cell) lasting(left int64) cell {
	c.key.left = left
	return c
}

// owned are the values of key i that make the caller its owner: the token, and what begins like it if only its beginning counts.
func (t *trial) owned(i int) []cell {
	if t.tokens == nil {
		return nil
	}
	cells := []cell{present(owner, t.tokens[i], usualLeft)}
	if t.prefix {
		begins := t.cutWord(t.tokens[i], t.cut)
		alike := present(owner, word{symbol: sharer}, usualLeft)
		alike.shared = begins
		cells = append(cells, alike)
		if begins != t.tokens[i] {
			cells = append(cells, present(owner, begins, usualLeft))
		}
	}
	return cells
}

// others are the values of key i that make another its holder.
func (t *trial) others(i int) []cell {
	mine := make(map[word]bool)
	for _, c := range t.owned(i) {
		mine[c.key.value] = true
	}
	cells := []cell{present(somebodyElse, word{symbol: otherHolder}, usualLeft)}
	add := func(w word) {
		if !mine[w] {
			mine[w] = true
			cells = append(cells, present(somebodyElse, w, usualLeft))
		}
	}
	if t.cut > 0 {
		add(word{symbol: otherShort})
	}
	for g := range t.groups {
		add(t.word(g))
	}
	for _, text := range t.texts() {
		add(word{text: text})
	}
	for _, shared := range t.sharers() {
		if t.prefix && shared == t.cutWord(t.tokens[i], t.cut) {
			continue
		}
		add(shared) // and nothing behind it
		c := present(somebodyElse, word{symbol: sharer}, usualLeft)
		c.shared = shared
		cells = append(cells, c)
	}
	return cells
}

// holding is a cell of another's for key i, whose own token it may be.
func (t *trial) holding(i int, c cell) cell {
	for _, mine := range t.owned(i) {
		if mine.key.value == c.key.value && mine.shared == c.shared {
			return mine
		}
	}
	return c
}

// backgrounds are the states in which all keys hold the same, by holder.
func (t *trial) backgrounds() []func(i int) cell {
	missing := func(int) cell { return cell{} }
	another := func(int) cell { return present(somebodyElse, word{symbol: otherHolder}, usualLeft) }
	if t.tokens == nil {
		return []func(int) cell{missing, another}
	}
	mine := func(i int) cell { return t.owned(i)[0] }
	return []func(int) cell{missing, mine, another}
}

// states are all states that the script can tell apart: see the head of scriptrecognise.go. brief leaves out what does not bear on the
// expiry.
func (t *trial) states(brief bool) iter.Seq[*state] {
	return func(yield func(*state) bool) {
		n := len(t.names)
		over := false
		try := func(cellOf func(i int) cell) {
			if !over && !yield(stateOf(n, cellOf)) {
				over = true
			}
		}
		switch {
		case n == 1:
			t.statesOfOne(try, brief)
		case brief:
			for _, b := range t.backgrounds() {
				try(b)
				t.timesOfMany(b, try, true)
			}
		default:
			t.statesOfMany(try)
		}
	}
}

func stateOf(n int, cellOf func(i int) cell) *state {
	st := &state{keys: make([]modelKey, n), who: make([]holder, n)}
	for i := range n {
		c := cellOf(i)
		st.keys[i], st.who[i] = c.key, c.who
		st.count.count(c.who, 1)
		if c.shared != (word{}) {
			st.shared = c.shared
		}
	}
	return st
}

func (t *trial) statesOfOne(try func(func(int) cell), brief bool) {
	only := func(c cell) { try(func(int) cell { return c }) }
	only(cell{})
	values, kinds := append(t.owned(0), t.others(0)...), t.kinds()
	for _, left := range t.lefts() {
		for _, c := range values {
			only(c.lasting(left))
		}
	}
	if brief {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		only(odd(kind, usualLeft))
		only(odd(kind, noExpiry))
	}
}

// kinds are types that a key may have: a script may compare them with any of its texts.
func (t *trial) kinds() []string {
	kinds := append([]string(nil), otherTypes...)
	for _, text := range t.texts() {
		if text != "string" && text != "none" && text != "" {
			kinds = append(kinds, text)
		}
	}
	return kinds
}

// statesOfMany: backgrounds with up to maxDeviating keys that differ; of three keys, these are all combinations.
func (t *trial) statesOfMany(try func(func(int) cell)) {
	n, grounds := len(t.names), t.backgrounds()
	for _, b := range grounds {
		try(b)
		t.timesOfMany(b, try, false)
	}
	if n <= 3 {
		combinations(n, len(grounds), func(choice []int) { try(func(i int) cell { return grounds[choice[i]](i) }) })
	} else {
		for g, b := range grounds {
			for i := range n {
				for h := range grounds {
					for j := i; j < n && h != g; j++ {
						for k := range grounds {
							if k == g || j == i && k != h {
								continue
							}
							try(except(b, map[int]cell{i: grounds[h](i), j: grounds[k](j)}))
						}
					}
				}
			}
		}
	}
	lefts := []int64{usualLeft}
	if t.timed {
		lefts = []int64{usualLeft, longLeft, noExpiry}
	}
	for i := range n {
		alone := append(t.others(i), t.owned(i)...)
		for _, c := range alone {
			for _, b := range grounds {
				for _, left := range lefts {
					try(except(b, map[int]cell{i: c.lasting(left)}))
				}
				if n > manyKeys {
					break
				}
			}
		}
	}
	t.statesOfWords(try)
	for _, b := range grounds {
		for i := range n {
			try(except(b, map[int]cell{i: odd(otherTypes[i%len(otherTypes)], usualLeft)}))
		}
	}
}

// statesOfWords: all keys hold the same, or each a word of the call, in its order; two keys, any two words.
func (t *trial) statesOfWords(try func(func(int) cell)) {
	n := len(t.names)
	for _, c := range t.others(0) {
		try(func(i int) cell { return t.holding(i, c) })
	}
	held := func(i, group int) cell { return t.holding(i, present(somebodyElse, t.word(group), usualLeft)) }
	if n == 2 && t.call.n > 0 {
		combinations(n, len(t.groups), func(choice []int) { try(func(i int) cell { return held(i, choice[i]) }) })
		return
	}
	for first := 0; first+n <= t.call.n; first++ {
		try(func(i int) cell { return held(i, t.of[first+i]) })
	}
}

// manyKeys is up to how many keys every value of one is tried in all backgrounds of the others.
const manyKeys = 4

// timesOfMany is a background with other remaining times.
func (t *trial) timesOfMany(b func(int) cell, try func(func(int) cell), brief bool) {
	if !b(0).key.exists {
		return
	}
	for _, left := range t.lefts() {
		try(func(i int) cell { return b(i).lasting(left) })
	}
	for i := range t.names {
		if brief {
			return
		}
		try(except(b, map[int]cell{i: b(i).lasting(noExpiry)}))
		try(except(b, map[int]cell{i: b(i).lasting(1)}))
	}
}

func except(b func(int) cell, other map[int]cell) func(int) cell {
	return func(i int) cell {
		if c, ok := other[i]; ok {
			return c
		}
		return b(i)
	}
}

// combinations calls f with all ways to choose one of k for each of n.
func combinations(n, k int, f func([]int)) {
	choice := make([]int, n)
	for {
		f(choice)
		i := 0
		for ; i < n; i++ {
			if choice[i]++; choice[i] < k {
				break
			}
			choice[i] = 0
		}
		if i == n {
			return
		}
	}
}
