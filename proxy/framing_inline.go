// Inline commands (what a person types into netcat) are rewritten to RESP here, so that redcon's own inline parser, which is
// quadratic and not Redis's, is never reached.
package proxy

import (
	"bytes"
	"strconv"
)

// rewriteInline replaces the line at the end of buf by the same command in RESP.
func (f *framer) rewriteInline() frameEvent {
	line := bytes.TrimSuffix(f.buf[f.start:], []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > f.limits.MaxInline {
		f.err = errInlineSize
		return nothingAsked
	}
	args, err := splitInline(line, f.limits.MaxArgs)
	if err != nil {
		f.err = err
		return nothingAsked
	}
	if len(args) == 0 {
		return nothingAsked
	}
	if bytes.EqualFold(args[0], []byte("post")) || bytes.EqualFold(args[0], []byte("host:")) {
		f.err = errCrossProtocol
		return nothingAsked
	}
	// The arguments have memory of their own: the line may be overwritten.
	out := appendHeader(f.buf[:f.start], '*', len(args))
	for _, arg := range args {
		if len(arg) > f.limits.MaxBulk {
			f.err = errInlineBulk
			return nothingAsked
		}
		out = append(append(appendHeader(out, '$', len(arg)), arg...), '\r', '\n')
	}
	f.buf = out
	if len(out)-f.start > f.limits.MaxCommand {
		f.err = errInlineTotal
		return nothingAsked
	}
	return wholeCommand
}

func appendHeader(b []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(b, kind), int64(n), 10), '\r', '\n')
}

// splitInline cuts a line into arguments by the rules of Redis's sdssplitargs. All arguments share one new array, so that a
// line costs its own length and no more.
func splitInline(line []byte, maxArgs int) ([][]byte, *protocolError) {
	flat := make([]byte, 0, len(line)) // an argument is never longer than its text
	var args [][]byte
	for {
		for len(line) > 0 && isSpace(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return args, nil
		}
		if len(args) == maxArgs {
			return nil, errInlineArgs
		}
		from := len(flat)
		var ok bool
		if flat, line, ok = inlineArgument(flat, line); !ok {
			return nil, errInlineQuotes
		}
		args = append(args, flat[from:len(flat):len(flat)])
	}
}

// inlineArgument appends the first argument of line to flat and returns the rest of the line. A quote may open in the middle of an
// argument, but behind a closing quote the argument must end.
func inlineArgument(flat, line []byte) (_, rest []byte, ok bool) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		// Not \v and \f: sdssplitargs skips them before an argument, yet takes them into one.
		case ' ', '\n', '\r', '\t':
			return flat, line[i:], true
		case '"', '\'':
			flat, rest, ok = inlineQuoted(flat, line[i+1:], c)
			return flat, rest, ok && (len(rest) == 0 || isSpace(rest[0]))
		default:
			flat = append(flat, c)
		}
	}
	return flat, nil, true
}

// inlineQuoted is inlineArgument behind an opening quote. Between single quotes only \' is an escape.
func inlineQuoted(flat, line []byte, quote byte) (_, rest []byte, ok bool) {
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			return flat, line[i+1:], true
		case c != '\\' || i+1 == len(line):
			flat = append(flat, c)
		case quote == '\'':
			if line[i+1] == '\'' {
				c = '\''
				i++
			}
			flat = append(flat, c)
		case i+3 < len(line) && line[i+1] == 'x' && isHex(line[i+2]) && isHex(line[i+3]):
			v, _ := strconv.ParseUint(string(line[i+2:i+4]), 16, 8) // two hex digits: cannot fail
			flat = append(flat, byte(v))
			i += 3
		default:
			i++
			flat = append(flat, unescape(line[i]))
		}
	}
	return flat, nil, false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool {
	return c-'0' <= 9 || c-'a' <= 5 || c-'A' <= 5
}
