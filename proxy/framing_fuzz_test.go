package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// The law: what the guard lets through, parsed by redcon, is what a plain reader makes of the whole input, and ends the same way, however the
// input is cut. cuts says how: the pieces' lengths, over and over.
func FuzzFraming(f *testing.F) {
	long := strings.Repeat("x", 9000)
	for _, in := range []string{
		resp("SET", "k", "v", "NX", "PX", "1000") + "PING\r\n" + resp("GET", "k"),
		"*0\r\n\r\n*-1\r\nSET k \"a\\x41 b\" 'it\\'s'\r\n*1\r\n$-1\r\n",
		strings.Repeat(resp("PING"), 700) + "*2\r\n$4\r\nECHO\r\n$9000\r\n" + long + "\r\nQUIT\n",
		"*1\r\n$4\r\nPINGxx", "POST /\n", "a\"b", "*1\r\n\x00", "*3\r\n$1\r\na\r\n$", long, "\x00\n", resp(long, long),
		"*1\r\n$9223372036854775807\r\n", "*1\r\n$536870912\r\nx", "*9223372036854775807\r\n", "* 1 1 1 1",
		strings.Repeat("\xa6", 22) + "\x00", // found: too long or NUL, depending on the cuts
	} {
		for _, cuts := range []string{"", "\x01", "\x03\x01\x40", "\xff\x02"} {
			f.Add([]byte(in), []byte(cuts), false)
			f.Add([]byte(in), []byte(cuts), true)
		}
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte, small bool) {
		limits := &Limits{MaxArgs: 700, MaxBulk: 10000, MaxInline: 9000, MaxCommand: 20000, MaxPipeline: 300}
		if small {
			limits = smallLimits
		}
		wantCommands, wantEnd := readPlainly(string(in), limits)
		gotCommands, gotEnd := framed(t, limits, cut(string(in), cuts)...)
		if gotEnd != wantEnd {
			t.Fatalf("end %q, want %q", gotEnd, wantEnd)
		}
		if len(gotCommands)+len(wantCommands) > 0 && !reflect.DeepEqual(gotCommands, wantCommands) {
			t.Fatalf("commands %q, want %q", gotCommands, wantCommands)
		}
	})
}

func cut(in string, cuts []byte) (pieces []string) {
	for i := 0; in != ""; i++ {
		n := len(in)
		if len(cuts) > 0 {
			n = min(n, max(1, int(cuts[i%len(cuts)])))
		}
		pieces = append(pieces, in[:n])
		in = in[n:]
	}
	return pieces
}

// readPlainly is the reference: no state, no speed, all of the input at hand.
func readPlainly(in string, limits *Limits) (commands [][]string, end string) {
	r := bufio.NewReader(strings.NewReader(in))
	for {
		first, err := r.Peek(1)
		if err != nil {
			return commands, ""
		}
		var args []string
		if first[0] == '*' {
			args, err = plainRESP(r, limits)
		} else {
			args, err = plainInline(r, limits)
		}
		if err == io.EOF {
			return commands, "half"
		}
		if err != nil {
			return commands, "Protocol error: " + err.Error()
		}
		if len(args) > 0 {
			commands = append(commands, args)
		}
	}
}

func plainRESP(r *bufio.Reader, limits *Limits) (args []string, err error) {
	r.ReadByte()
	size := 1
	count, err := plainNumber(r, &size, "invalid multibulk length", "too big mbulk count string")
	if err != nil || count <= 0 {
		return nil, err
	}
	if count > limits.MaxArgs {
		return nil, errors.New("invalid multibulk length (above max-args)")
	}
	for range count {
		c, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		if c < ' ' || c > '~' {
			return nil, fmt.Errorf(`expected '$', got '\x%02x'`, c)
		} else if c != '$' {
			return nil, fmt.Errorf("expected '$', got '%c'", c)
		}
		size++
		n, err := plainNumber(r, &size, "invalid bulk length", "too big bulk count string")
		switch {
		case err != nil:
			return nil, err
		case n < 0:
			return nil, errors.New("invalid bulk length")
		case n > limits.MaxBulk:
			return nil, errors.New("invalid bulk length (above max-bulk)")
		case size+n+2 > limits.MaxCommand:
			return nil, errors.New("invalid bulk length (above max-command)")
		}
		bulk := make([]byte, n)
		if _, err := io.ReadFull(r, bulk); err != nil {
			return nil, io.EOF
		}
		for _, want := range []byte("\r\n") {
			if c, err := r.ReadByte(); err != nil {
				return nil, err
			} else if c != want {
				return nil, errors.New("expected CRLF after bulk")
			}
		}
		size += n + 2
		args = append(args, string(bulk))
	}
	return args, nil
}

func plainNumber(r *bufio.Reader, size *int, invalid, long string) (int, error) {
	text := ""
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		*size++
		if c == '\r' {
			break
		}
		if c == '-' && text == "" {
			text = "-"
			continue
		}
		if c < '0' || c > '9' {
			return 0, errors.New(invalid)
		}
		text += string(c)
		if len(strings.TrimPrefix(text, "-")) > maxHeader {
			return 0, errors.New(long)
		}
	}
	c, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	*size++
	// Canonical, of 18 digits at most: then it prints as it was written.
	var n int
	fmt.Sscanf(text, "%d", &n)
	if c != '\n' || len(strings.TrimPrefix(text, "-")) > 18 || fmt.Sprint(n) != text {
		return 0, errors.New(invalid)
	}
	return n, nil
}

func plainInline(r *bufio.Reader, limits *Limits) ([]string, error) {
	line, tooBig := "", errors.New("too big inline request (above max-inline)")
	for {
		c, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		if c == '\n' {
			break
		}
		if line += string([]byte{c}); c == 0 {
			return nil, errors.New("NUL byte in inline request")
		}
		if len(line) > limits.MaxInline+1 {
			return nil, tooBig
		}
	}
	if line = strings.TrimSuffix(line, "\r"); len(line) > limits.MaxInline {
		return nil, tooBig
	}
	args, ok := sdssplitargs(line)
	if len(args) > limits.MaxArgs {
		return nil, errors.New("too big inline request (above max-args)")
	}
	if !ok {
		return nil, errors.New("unbalanced quotes in request")
	}
	if len(args) == 0 {
		return nil, nil
	}
	if first := strings.ToLower(args[0]); first == "post" || first == "host:" {
		return nil, errors.New("possible cross protocol attack")
	}
	for _, a := range args {
		if len(a) > limits.MaxBulk {
			return nil, errors.New("too big inline request (above max-bulk)")
		}
	}
	if len(resp(args...)) > limits.MaxCommand {
		return nil, errors.New("too big inline request (above max-command)")
	}
	return args, nil
}

// sdssplitargs follows the C function of that name statement by statement, the NUL behind the string included. With !ok, args also
// has the argument that is not well-formed.
func sdssplitargs(line string) (args []string, ok bool) {
	p := 0
	at := func(i int) byte {
		if i < len(line) {
			return line[i]
		}
		return 0
	}
	space := func(c byte) bool { return c != 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0 }
	hex := func(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
	isHex := func(c byte) bool { return c != 0 && (c >= '0' && c <= '9' || c >= 'A') && hex(c) >= 0 }
	for {
		for space(at(p)) {
			p++
		}
		if at(p) == 0 {
			return args, true
		}
		var inq, insq, done bool
		var current []byte
		for !done {
			c := at(p)
			switch {
			case inq && c == '\\' && at(p+1) == 'x' && isHex(at(p+2)) && isHex(at(p+3)):
				current = append(current, byte(hex(at(p+2))*16+hex(at(p+3))))
				p += 3
			case inq && c == '\\' && at(p+1) != 0:
				p++
				c = at(p)
				if i := strings.IndexByte("nrtba", c); i >= 0 {
					c = "\n\r\t\b\a"[i]
				}
				current = append(current, c)
			case insq && c == '\\' && at(p+1) == '\'':
				p++
				current = append(current, '\'')
			case inq && c == '"', insq && c == '\'':
				if at(p+1) != 0 && !space(at(p+1)) {
					return append(args, ""), false
				}
				done = true
			case (inq || insq) && c == 0:
				return append(args, ""), false
			case inq || insq:
				current = append(current, c)
			case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0:
				done = true
			case c == '"':
				inq = true
			case c == '\'':
				insq = true
			default:
				current = append(current, c)
			}
			if at(p) != 0 {
				p++
			}
		}
		args = append(args, string(current))
	}
}
