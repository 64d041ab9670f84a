package commands

import "slices"

// options are the words behind what a command sets, in any order and case.
type options struct {
	condition string // NX, XX, IFEQ, IFNE, IFDEQ, IFDNE
	was       []byte // what a condition with a value compares
	get       bool
	unit      string // EX, PX, EXAT, PXAT, KEEPTTL, PERSIST
	expiry    Expiry
}

// The words that a command has.
var (
	unitWords = []string{"EX", "PX", "EXAT", "PXAT", "KEEPTTL", "PERSIST"}

	ofSet    = []string{"NX", "XX", "IFEQ", "IFNE", "IFDEQ", "IFDNE", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL"}
	ofMSetEX = []string{"NX", "XX", "EX", "PX", "EXAT", "PXAT", "KEEPTTL"}
	ofGetEX  = []string{"EX", "PX", "EXAT", "PXAT", "PERSIST"}
)

// parseOptions reads all words first, and then the number, as Redis does: which of two mistakes is told depends on
// it. A word may come again, and the last one counts; two conditions or two kinds of expiry exclude each other.
func parseOptions(name string, known []string, args [][]byte) (o options, err error) {
	var number []byte
	for len(args) > 0 {
		word := wordIn(known, args[0])
		into := &o.condition
		switch {
		case word == "":
			return o, errSyntax
		case word == "GET":
			o.get, args = true, args[1:]
			continue
		case slices.Contains(unitWords, word):
			into = &o.unit
		}
		if *into != "" && *into != word {
			return o, errSyntax
		}
		*into, args = word, args[1:]
		switch word {
		case "NX", "XX", "KEEPTTL", "PERSIST":
			continue
		}
		if len(args) == 0 {
			return o, errSyntax
		}
		if into == &o.unit {
			number = args[0]
		} else {
			o.was = args[0]
		}
		args = args[1:]
	}
	if number != nil {
		o.expiry, err = parseExpiry(name, o.unit, number)
	}
	return o, err
}

// wordIn is the one of the words that arg is, in either case, or "".
func wordIn(words []string, arg []byte) string {
	for _, w := range words {
		if isWord(w, arg) {
			return w
		}
	}
	return ""
}

// isWord says whether arg is the word, which is in capitals, in either case.
func isWord(word string, arg []byte) bool {
	if len(word) != len(arg) {
		return false
	}
	for i, c := range arg {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
