package proxy

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/redcon"
)

// smallLimits have every limit within reach of a short test.
var smallLimits = &Limits{MaxArgs: 4, MaxBulk: 10, MaxInline: 20, MaxCommand: 50, MaxPipeline: 3}

// framed is what comes out of a framer that was fed pieces, as redcon reads it, and how it ended: "", "half" or an error's text.
func framed(tb testing.TB, limits *Limits, pieces ...string) (commands [][]string, end string) {
	tb.Helper()
	source := &framerReader{f: framer{limits: limits}, pieces: pieces}
	rd := redcon.NewReader(source)
	for {
		cmd, err := rd.ReadCommand()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatalf("redcon refuses what the guard let through: %v", err)
		}
		commands = append(commands, texts(cmd.Args))
	}
	switch {
	case source.f.err != nil:
		end = source.f.err.text
	case !source.f.atBoundary():
		end = "half"
	}
	if len(source.f.buf) > 0 && end != "half" {
		tb.Fatalf("%d bytes left over", len(source.f.buf))
	}
	return commands, end
}

type framerReader struct {
	f      framer
	pieces []string
}

func (r *framerReader) Read(p []byte) (int, error) {
	for {
		if n := r.f.take(p); n > 0 {
			return n, nil
		}
		if len(r.pieces) == 0 {
			return 0, io.EOF
		}
		r.f.feed([]byte(r.pieces[0]))
		r.pieces = r.pieces[1:]
	}
}

func texts(args [][]byte) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = string(a)
	}
	return out
}

func resp(args ...string) string {
	b := appendHeader(nil, '*', len(args))
	for _, a := range args {
		b = append(append(appendHeader(b, '$', len(a)), a...), "\r\n"...)
	}
	return string(b)
}

func TestFraming(t *testing.T) {
	const a = "abcdefghij" // as long as a bulk may be
	for _, tc := range []struct{ in, want, end string }{
		{resp("SET", "k"), "[SET k]", ""},
		{resp("A") + resp("B") + resp("C") + resp("D"), "[A][B][C][D]", ""},
		{resp("", "\r\n", "*1\r\n"), "[ \r\n *1\r\n]", ""},
		{"*0\r\n*-1\r\n\r\n\n  \r\n" + resp("A") + "*-7\r\n", "[A]", ""},
		{"*1\r\n$3\r\nSE", "", "half"},
		{"*1\r\n$3\r\nSET\r", "", "half"},
		{"\r", "", "half"},

		// Each limit, at it and one past it.
		{resp("1", "2", "3", "4"), "[1 2 3 4]", ""},
		{resp("A") + "*5\r\n", "[A]", "Protocol error: invalid multibulk length (above max-args)"},
		{resp("1", "2", "3", "4", "5"), "", "Protocol error: invalid multibulk length (above max-args)"},
		{resp(a), "[" + a + "]", ""},
		{"*1\r\n$11\r\n", "", "Protocol error: invalid bulk length (above max-bulk)"},
		{resp(a + "k"), "", "Protocol error: invalid bulk length (above max-bulk)"},
		{resp(a, a, "123456"), "[" + a + " " + a + " 123456]", ""}, // 4 + 17 + 17 + 12
		{resp(a, a, "1234567"), "", "Protocol error: invalid bulk length (above max-command)"},
		{a + " " + a[1:] + "\r\n", "[" + a + " " + a[1:] + "]", ""},
		{a + " " + a[1:] + " \r\n", "", "Protocol error: too big inline request (above max-inline)"},
		{a + " " + a[1:] + " \n", "", "Protocol error: too big inline request (above max-inline)"},
		{strings.Repeat(" ", 20) + "\r", "", "half"},
		{strings.Repeat(" ", 20) + "\rx", "", "Protocol error: too big inline request (above max-inline)"},
		{"1 2 3 4\n", "[1 2 3 4]", ""},
		{"1 2 3 4 5\n", "", "Protocol error: too big inline request (above max-args)"},
		{a + "k\n", "", "Protocol error: too big inline request (above max-bulk)"},
		{"*" + strings.Repeat("1", maxHeader) + "\r\n", "", "Protocol error: invalid multibulk length"},
		{"*" + strings.Repeat("1", maxHeader+1), "", "Protocol error: too big mbulk count string"},
		{"*1\r\n$" + strings.Repeat("1", maxHeader) + "\r\n", "", "Protocol error: invalid bulk length"},
		{"*1\r\n$" + strings.Repeat("1", maxHeader+1), "", "Protocol error: too big bulk count string"},

		// Lengths are what string2ll takes, and no more.
		{"*\r\n", "", "Protocol error: invalid multibulk length"},
		{"*-\r\n", "", "Protocol error: invalid multibulk length"},
		{"*-0\r\n", "", "Protocol error: invalid multibulk length"},
		{"*01\r\n", "", "Protocol error: invalid multibulk length"},
		{"*+1\r\n", "", "Protocol error: invalid multibulk length"},
		{"* 1\r\n", "", "Protocol error: invalid multibulk length"},
		{"*1\n", "", "Protocol error: invalid multibulk length"},
		{"*1\rx", "", "Protocol error: invalid multibulk length"},
		{"*9223372036854775807\r\n", "", "Protocol error: invalid multibulk length"},
		{"*18446744073709551617\r\n", "", "Protocol error: invalid multibulk length"},
		{"*999999999999999999\r\n", "", "Protocol error: invalid multibulk length (above max-args)"},
		{"*1\r\n$\r\n", "", "Protocol error: invalid bulk length"},
		{"*1\r\n$-1\r\n", "", "Protocol error: invalid bulk length"},
		{"*1\r\n$1x", "", "Protocol error: invalid bulk length"},
		{"*1\r\n$00\r\n", "", "Protocol error: invalid bulk length"},
		{"*1\r\n$9223372036854775807\r\n", "", "Protocol error: invalid bulk length"},
		{"*1\r\nx", "", "Protocol error: expected '$', got 'x'"},
		{"*1\r\n\r", "", `Protocol error: expected '$', got '\x0d'`},
		{"*1\r\n\xff", "", `Protocol error: expected '$', got '\xff'`},
		{"*1\r\n$1\r\nabc", "", "Protocol error: expected CRLF after bulk"},
		{"*1\r\n$1\r\nax\n", "", "Protocol error: expected CRLF after bulk"},
		{"*1\r\n$1\r\na\rx", "", "Protocol error: expected CRLF after bulk"},

		{"\x16\x03\x01\x00\n", "", "Protocol error: NUL byte in inline request"},
		{"GET /\r\nhost: x\r\nDEL k\r\n", "[GET /]", "Protocol error: possible cross protocol attack"},
		{"POST / HTTP/1.1\r\n", "", "Protocol error: possible cross protocol attack"},
		{resp("POST"), "[POST]", ""},
	} {
		trickle := strings.Split(tc.in, "")
		for _, pieces := range [][]string{{tc.in}, trickle} {
			commands, end := framed(t, smallLimits, pieces...)
			got := ""
			for _, c := range commands {
				got += fmt.Sprint(c)
			}
			if got != tc.want || end != tc.end {
				t.Errorf("%q in %d pieces: got %q, %q, want %q, %q", tc.in, len(pieces), got, end, tc.want, tc.end)
			}
		}
	}
}

func TestInlineTotal(t *testing.T) {
	limits := &Limits{MaxArgs: 4, MaxBulk: 10, MaxInline: 20, MaxCommand: 18, MaxPipeline: 1} // *2 $1 $1: 4 + 2 * 7
	if got, end := framed(t, limits, "a b\n"); len(got) != 1 || end != "" {
		t.Errorf("at max-command: %q, %q", got, end)
	}
	if got, end := framed(t, limits, "a bc\n"); len(got) != 0 || end != errInlineTotal.text {
		t.Errorf("past max-command: %q, %q", got, end)
	}
}

// One line per sentence of sdssplitargs. Compared once with Redis 7.0.15 itself: 4,000 random lines, no difference.
func TestInlineQuoting(t *testing.T) {
	const bad = "unbalanced"
	for line, want := range map[string]string{
		`a b`:                `["a" "b"]`,
		"\t a \v b\r":        `["a" "b"]`,
		"a\vb c\fd":          `["a\vb" "c\fd"]`,
		"a\rb":               `["a" "b"]`,
		`"a b" 'c d'`:        `["a b" "c d"]`,
		`"" ''`:              `["" ""]`,
		`a"b c"`:             `["ab c"]`,
		`a'b c'`:             `["ab c"]`,
		`"\x41\xfF\x0"`:      `["A\xffx0"]`,
		`"\xg1"`:             `["xg1"]`,
		`"\n\r\t\b\a\"\\`:    bad,
		`"\n\r\t\b\a\"\\\q"`: `["\n\r\t\b\a\"\\q"]`,
		`'\n\x41\\ \''`:      `["\\n\\x41\\\\ '"]`,
		`"it's" 'so "so"'`:   `["it's" "so \"so\""]`,
		`a\nb`:               `["a\\nb"]`,
		`"a"b`:               bad,
		`'a'b`:               bad,
		`"a""b"`:             bad,
		`"a`:                 bad,
		`'a`:                 bad,
		`a"`:                 bad,
		`"a\`:                bad,
		`"a\"`:               bad,
		`'a\'`:               bad,
		"\"a\"\vb":           `["a" "b"]`,
		`"\x4`:               bad,
		`"\x4"`:              `["x4"]`,
		"'a\tb'":             `["a\tb"]`,
	} {
		commands, end := framed(t, (&Limits{}).filled(), line+"\n")
		got := bad
		if end == "" && len(commands) == 1 {
			got = fmt.Sprintf("%q", commands[0])
		} else if end != errInlineQuotes.text {
			got = end
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func (l *Limits) filled() *Limits {
	full := l.withDefaults()
	return &full
}

func TestTakeGivesWholeCommandsThatFit(t *testing.T) {
	f := framer{limits: smallLimits}
	one := resp("A") // 11 bytes
	f.feed([]byte(strings.Repeat(one, 5) + "*1\r"))
	p := make([]byte, 100)
	for i, want := range []int{33, 22, 0} { // max-pipeline is 3
		if n := f.take(p); n != want {
			t.Errorf("take %d: %d bytes, want %d", i, n, want)
		}
	}
	f.feed([]byte("\n$9\r\n123456789\r\n" + one))
	var got []int
	for n := f.take(p[:12]); n > 0; n = f.take(p[:12]) {
		got = append(got, n)
	}
	if !slices.Equal(got, []int{12, 7, 11}) { // 19 bytes in two pieces, then the next does not fit behind it
		t.Errorf("pieces %v", got)
	}
}

func TestFramerGivesMemoryBack(t *testing.T) {
	f := framer{limits: (&Limits{}).filled()}
	p := make([]byte, 4096)
	half := resp("A")[:5]
	f.feed([]byte(resp(strings.Repeat("x", 60000)) + half))
	if cap(f.buf) < 60000 {
		t.Fatal("the command is not there")
	}
	for f.take(p) > 0 {
	}
	f.feed([]byte("1"))
	if cap(f.buf) > 64 {
		t.Errorf("a half command of 6 bytes holds %d", cap(f.buf))
	}
	f.feed([]byte("\r\nA\r\n" + strings.Repeat(resp("A"), 1000)))
	for f.take(p) > 0 {
	}
	if cap(f.buf) > keptBytes || cap(f.ends) > keptEnds {
		t.Errorf("nothing held, but %d bytes and %d ends kept", cap(f.buf), cap(f.ends))
	}
}

// A promise costs nothing: 1,000 half commands of 64 KiB, of which 20 bytes came.
func TestMemoryFollowsBytesNotPromises(t *testing.T) {
	framers := make([]framer, 1000)
	before := heap()
	for i := range framers {
		framers[i].limits = (&Limits{}).filled()
		framers[i].feed([]byte("*1024\r\n$65536\r\nxxxx"))
	}
	if used := heap() - before; used > 1000*1024 {
		t.Errorf("%d bytes each", used/1000)
	}
	runtime.KeepAlive(framers)
}

func heap() int {
	runtime.GC()
	runtime.GC() // the second frees what the first only finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
