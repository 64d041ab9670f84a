package sim

import (
	"errors"
	"strconv"
	"strings"
)

// parse a reply of a node, as redigo would: nil, int64, string (a status), []byte, []any or error.
func parse(reply string) any {
	v, _ := parseNext(reply)
	return v
}

func parseNext(r string) (any, string) {
	line, rest, _ := strings.Cut(r[1:], "\r\n")
	switch r[0] {
	case '+':
		return line, rest
	case '-':
		return errors.New(line), rest
	}
	n, err := strconv.ParseInt(line, 10, 64)
	switch {
	case err != nil:
		panic("sim: a reply of a node: " + r)
	case r[0] == ':':
		return n, rest
	case n < 0:
		return nil, rest
	case r[0] == '$':
		return []byte(rest[:n]), rest[n+2:]
	}
	all := make([]any, n)
	for i := range all {
		all[i], rest = parseNext(rest)
	}
	return all, rest
}

func text(v any) string {
	b, _ := v.([]byte)
	return string(b)
}

func itoa(n int) string { return strconv.Itoa(n) }
