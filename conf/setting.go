package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// setting is one field of Config seen as text: how it is written, checked and shown. Errors of set tell what is wrong
// and what would be right; where the text was found is the loader's to add.
type setting struct {
	unit   string             // what may be written, limits included, for --help
	toml   []unstable.Kind    // what it may be in a file
	set    func(string) error // leaves the field alone when it fails
	show   func() string      // as a user would write it; shortest form
	number func() int64       // for laws between options; nil where the value is no number
}

var (
	asString  = []unstable.Kind{unstable.String}
	asInteger = []unstable.Kind{unstable.Integer}
	asBool    = []unstable.Kind{unstable.Bool}
	asSize    = []unstable.Kind{unstable.Integer, unstable.String}
	asList    = []unstable.Kind{unstable.Array, unstable.String}
)

// ranged is a number from lo to hi, both allowed.
func ranged[T int | time.Duration](into *T, lo, hi T, toml []unstable.Kind, unit string, parse func(string) (T, error), show func(T) string) setting {
	limits := show(lo) + " to " + show(hi)
	return setting{
		unit: unit + ", " + limits,
		toml: toml,
		set: func(text string) error {
			v, err := parse(text)
			if err != nil {
				return err
			}
			if v < lo || v > hi {
				return fmt.Errorf("%s is outside %s", show(v), limits)
			}
			*into = v
			return nil
		},
		show:   func() string { return show(*into) },
		number: func() int64 { return int64(*into) },
	}
}

func duration(into *time.Duration, lo, hi time.Duration) setting {
	return ranged(into, lo, hi, asString, "duration", parseDuration, showDuration)
}

func size(into *int, lo, hi int) setting {
	return ranged(into, lo, hi, asSize, "bytes", parseSize, showSize)
}

func count(into *int, lo, hi int, of string) setting {
	return ranged(into, lo, hi, asInteger, of, parseCount, strconv.Itoa)
}

func boolean(into *bool) setting {
	return setting{
		unit: "true or false",
		toml: asBool,
		set: func(text string) error {
			v, err := strconv.ParseBool(text)
			if err != nil {
				return fmt.Errorf("%s is neither true nor false", quote(text))
			}
			*into = v
			return nil
		},
		show: func() string { return strconv.FormatBool(*into) },
	}
}

// word is one of the words a choice may be written as.
type word[T comparable] struct {
	text  string
	value T
}

func choice[T comparable](into *T, words ...word[T]) setting {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
	}
	all := strings.Join(texts, " | ")
	return setting{
		unit: all,
		toml: asString,
		set: func(text string) error {
			i := slices.Index(texts, text)
			if i < 0 {
				return fmt.Errorf("%s is not one of %s", quote(text), all)
			}
			*into = words[i].value
			return nil
		},
		show: func() string {
			i := slices.IndexFunc(words, func(w word[T]) bool { return w.value == *into })
			if i < 0 {
				panic("conf: a choice outside " + all)
			}
			return texts[i]
		},
	}
}

// address is where to listen: host:port, where an empty host is every interface.
func address(into *string) setting {
	return setting{
		unit: "host:port",
		toml: asString,
		set: func(text string) error {
			a, err := parseListen(text)
			if err != nil {
				return err
			}
			*into = a
			return nil
		},
		show: func() string { return *into },
	}
}

func filename(into *string) setting {
	return setting{
		unit: "path of a TOML file of at most " + showSize(maxFile),
		toml: asString,
		set:  func(text string) error { *into = text; return nil },
		show: func() string { return *into },
	}
}

func nodes(into *[]Node) setting {
	return setting{
		unit: fmt.Sprintf("list of at most %d, separated by commas, or an array in a file; each %s", maxNodes, nodeForms),
		toml: asList,
		set: func(text string) error {
			ns, err := parseNodes(text)
			if err != nil {
				return err
			}
			*into = ns
			return nil
		},
		show: func() string {
			var texts []string
			for _, n := range *into {
				texts = append(texts, n.String())
			}
			return strings.Join(texts, ",")
		},
	}
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration: write a number and a unit, like 50ms, 1.5s or 24h", quote(text))
	}
	return d, nil
}

// showDuration is Go's way of writing it without the zeroes at its end: 24h, not 24h0m0s.
func showDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number that fits", quote(text))
	}
	return n, nil
}

// suffixes: both ways of writing mean 1024, as kb and mb do in redis.conf. The longer one is tried first.
var suffixes = []struct {
	text  string
	bytes int
}{{"kib", kib}, {"mib", mib}, {"kb", kib}, {"mb", mib}}

func parseSize(text string) (int, error) {
	digits, unit := strings.ToLower(text), 1
	for _, s := range suffixes {
		if cut, ok := strings.CutSuffix(digits, s.text); ok {
			digits, unit = strings.TrimRight(cut, " "), s.bytes
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > maxSize/unit || n < -maxSize/unit {
		return 0, fmt.Errorf("%s is not a size: write bytes, or a whole number with KB or KiB (1024 bytes), MB or MiB", quote(text))
	}
	return n * unit, nil
}

// maxSize keeps a size with its unit inside an int of 32 bits.
const maxSize = 1<<31 - 1

func showSize(n int) string {
	switch {
	case n != 0 && n%mib == 0:
		return strconv.Itoa(n/mib) + "MiB"
	case n != 0 && n%kib == 0:
		return strconv.Itoa(n/kib) + "KiB"
	}
	return strconv.Itoa(n)
}

// quote repeats what was written, unless it may hold a password: whoever puts the text of a node behind the wrong option
// must not find it in a log.
func quote(text string) string {
	if len(text) > maxQuote || strings.Contains(text, "@") || strings.Contains(text, "://") {
		return "what is given here (not repeated: it may hold a password)"
	}
	return strconv.Quote(text)
}

// nameOf is quote for what should be a name: it stands as it is unless it has a character no name has.
func nameOf(text string) string {
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'@:/`, r) }
	if len(text) > maxQuote || strings.ContainsFunc(text, odd) {
		return quote(text)
	}
	return text
}

// maxQuote in bytes: longer than any sensible value, short enough for one line of a log.
const maxQuote = 64
