package main

import (
	"regexp"
	"strconv"
	"strings"
)

// A reply is written on one line: +OK, -ERR text, :1, "bulk", nil (RESP2's $-1), nil array (*-1), null (RESP3's _), #t,
// ,1.5, =txt:text, [elements], {keys and values}, >[push].
//
// A pattern is such a line in which * stands for anything, and :1..30 for an integer from 1 to 30. A * alone is anything but an error, and ?
// alone anything at all.

var special = regexp.MustCompile(`\*|:-?\d+\.\.-?\d+`)

func match(pattern, reply string) bool {
	switch {
	case pattern == "?":
		return true
	case pattern == "*":
		return !strings.HasPrefix(reply, "-")
	}
	var expression strings.Builder
	var ranges [][2]int64
	rest := pattern
	for _, place := range special.FindAllStringIndex(pattern, -1) {
		found := pattern[place[0]:place[1]]
		expression.WriteString(regexp.QuoteMeta(pattern[len(pattern)-len(rest) : place[0]]))
		rest = pattern[place[1]:]
		if found == "*" {
			expression.WriteString("(?s:.*)")
			continue
		}
		expression.WriteString(`:(-?\d+)`)
		low, high, _ := strings.Cut(found[1:], "..")
		ranges = append(ranges, [2]int64{number(low), number(high)})
	}
	expression.WriteString(regexp.QuoteMeta(rest))
	groups := regexp.MustCompile("^" + expression.String() + "$").FindStringSubmatch(reply)
	if groups == nil {
		return false
	}
	for i, r := range ranges {
		if n := number(groups[i+1]); n < r[0] || n > r[1] {
			return false
		}
	}
	return true
}

// number is of digits, so that it fails only beyond 64 bits, where the nearest is good enough.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}
