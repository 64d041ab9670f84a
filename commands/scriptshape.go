// What is remembered of a script: the shapes of the calls in which it has been recognised, so that the next call of that shape
// costs comparisons and no Lua.

package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"
)

const (
	maxWords   = 40 // keys and arguments of a call: a token for each of maxKeys, and some flags
	maxKeys    = 16 // that a script touches: recognition takes time with the square of it
	maxShapes  = 8  // of one script: more than its flags have combinations
	maxLiteral = 32 // bytes of a flag that is kept; a longer one is looked at anew in every call
	maxTTL     = 9_999_999_999_999
)

// callWords are the keys and arguments of one call, made ready to be compared with shapes.
type callWords struct {
	keys, n int // KEYS come first
	value   [maxWords][]byte
	same    [maxWords]uint8 // the first position that holds the same value
	known   [maxWords]bool  // the value is one of the script's own texts
}

// wordKind says how much of a position's value the verdict depends on.
type wordKind uint8

const (
	wordOpaque  wordKind = iota // nothing but which other positions are equal, and that the script does not know it
	wordLiteral                 // the value
	wordTTL                     // a number of which the expiry is made; the positions that are equal
)

// shape is a class of calls of one script with one verdict.
//
// Invariant: a value is kept only in literal, and that is a text of the script's own or a short flag. Never a token, a key or an expiry
// that is not written in the script.
type shape struct {
	inKeys, n int
	same      [maxWords]uint8
	kind      [maxWords]wordKind
	literal   []string      // by position; "" where the kind is another
	cut       int           // the verdict depends on how values begin: the first cut bytes are compared; see apart
	length    [maxWords]int // cut > 0: whether a value is shorter (-1), as long, or longer (1) than that
	twins     [maxWords]uint8

	why string // refused; else:
	finding
}

func (sh *shape) matches(w *callWords) bool {
	if sh.n != w.n || sh.inKeys != w.keys || sh.same != w.same {
		return false
	}
	for i := range sh.n {
		if sh.cut > 0 && sh.length[i] != cmp.Compare(len(w.value[i]), sh.cut) {
			return false
		}
		switch sh.kind[i] {
		case wordOpaque:
			if w.known[i] {
				return false
			}
		case wordLiteral:
			if sh.literal[i] != string(w.value[i]) {
				return false
			}
		case wordTTL:
			if _, plain := plainTTL(w.value[i]); !plain {
				return false
			}
		}
	}
	return true
}

// shapeList is the part of a knownScript that changes.
type shapeList struct {
	// Held while a script is recognised: others who call it in a new way most likely want the same verdict, and wait for it.
	learning sync.Mutex
	mu       sync.Mutex
	shapes   []*shape // the most recently used first; at most maxShapes
}

// call fills in what the script does in this call, and returns the line where it writes.
func (k *knownScript) call(c *Command, keys, args [][]byte) (line int, err error) {
	switch {
	case k.why != "":
		return 0, refusal(k.sha, k.why)
	case len(keys)+len(args) > maxWords:
		return 0, refusal(k.sha, fmt.Sprintf("is called with more than %d keys and arguments", maxWords))
	}
	var w callWords
	w.set(keys, args, k.texts)
	sh := k.shapeOf(&w)
	if sh == nil {
		c.slow()
		sh = k.learn(w)
	}
	return sh.line, sh.fill(c, &w, k, keys, args)
}

func (k *knownScript) shapeOf(w *callWords) *shape {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.find(w)
}

func (k *knownScript) find(w *callWords) *shape {
	for i, sh := range k.shapes {
		if sh.matches(w) && (sh.cut == 0 || apart(w, k, sh.cut) && w.twins(sh.cut) == sh.twins) {
			copy(k.shapes[1:i+1], k.shapes[:i])
			k.shapes[0] = sh
			return sh
		}
	}
	return nil
}

// learn takes the words by value so that they stay on the stack in a call that has nothing to learn.
func (k *knownScript) learn(w callWords) *shape {
	k.learning.Lock()
	defer k.learning.Unlock()
	if sh := k.shapeOf(&w); sh != nil {
		return sh
	}
	sh, keep := k.turns.recognise(k, &w)
	if !keep {
		return sh
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.shapes) < maxShapes {
		k.shapes = append(k.shapes, nil)
	}
	copy(k.shapes[1:], k.shapes)
	k.shapes[0] = sh
	return sh
}

func (w *callWords) set(keys, args [][]byte, texts map[string]struct{}) {
	w.keys, w.n = len(keys), len(keys)+len(args)
	copy(w.value[:], keys)
	copy(w.value[len(keys):], args)
	for i := range w.n {
		_, w.known[i] = texts[string(w.value[i])]
		j := 0
		for !bytes.Equal(w.value[j], w.value[i]) {
			j++
		}
		w.same[i] = uint8(j)
	}
}

// plainTTL reads an expiry as Redis reads an integer: digits, nothing before or after, no leading zero.
//
// Whatever else a client sends as an expiry is refused on the spot, owner or not, and never carried out: 0 and less would delete the key,
// and what Lua makes of " 5e3" depends on how the script converts it, which the probes (whole numbers from 1 to maxTTL) do not
// say. 13 digits of seconds in milliseconds still are exact in a double; in milliseconds they are 317 years.
func plainTTL(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 13 || text[0] == '0' {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}
