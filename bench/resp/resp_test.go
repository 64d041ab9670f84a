package resp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func readString(s string) (Reply, error) { return Read(bufio.NewReader(strings.NewReader(s))) }

func TestReadKinds(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n":                              `"OK"`,
		"-NOQUORUM 2 of 5\r\n":                 "(error) NOQUORUM 2 of 5",
		":-12\r\n":                             "(integer) -12",
		"$5\r\na\r\nbc\r\n":                    `"a\r\nbc"`,
		"$0\r\n\r\n":                           `""`,
		"$-1\r\n":                              "(nil)",
		"*-1\r\n":                              "(nil)",
		"*0\r\n":                               "[]",
		"*3\r\n:1\r\n$-1\r\n*1\r\n+x\r\n":      `[(integer) 1 (nil) ["x"]]`,
		"*2\r\n*0\r\n-ERR inside an array\r\n": "[[] (error) ERR inside an array]",
	} {
		got, err := readString(in)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestReadRefusesWhatIsNoReply(t *testing.T) {
	for _, in := range []string{
		"\r\n", "OK\r\n", "+OK\n", ":x\r\n", ":\r\n", "$x\r\n", "$-2\r\n", "$2\r\nabcd", "*-2\r\n",
		"$16777217\r\n", "*1048577\r\n", "%1\r\n+a\r\n+b\r\n", strings.Repeat("*1\r\n", MaxDepth+2),
	} {
		if got, err := readString(in); err == nil {
			t.Errorf("%q: got %s, want an error", in, got)
		}
	}
}

// A reply that is cut anywhere is an unexpected end, never a clean one and never a shorter reply.
func TestReadCutAnywhere(t *testing.T) {
	const whole = "*3\r\n$3\r\nabc\r\n:1\r\n*1\r\n+x\r\n"
	for cut := 1; cut < len(whole); cut++ {
		if _, err := readString(whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got %v", whole[:cut], err)
		}
	}
	if _, err := readString(""); !errors.Is(err, io.EOF) {
		t.Errorf("nothing at all: got %v", err)
	}
}

func TestAppendCommand(t *testing.T) {
	got := string(AppendCommand([]byte("x"), "SET", "", "a\r\n"))
	if want := "x*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\na\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
