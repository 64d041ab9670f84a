package quorum

import (
	"strings"
	"testing"
	"time"
)

func TestP1Marks(t *testing.T) {
	for _, c := range []struct {
		text string
		want Mark
	}{
		{"", Mark{}},
		{"teaching:abc", Mark{Nonce: "abc"}},
		{"teaching:", Mark{}},
		{"teaching:run:5", Mark{Nonce: "run:5"}}, // no instance can be called teaching
		{"run:nonce:0", Mark{RunID: "run", Nonce: "nonce"}},
		{"run:nonce:-1500", Mark{RunID: "run", Nonce: "nonce", Offset: -1500 * ms}},
		// What is not understood vouches for nothing.
		{"run", Mark{}}, {"run:nonce", Mark{}}, {"run:nonce:", Mark{}}, {"run:nonce:x", Mark{}}, {"run:nonce:1:", Mark{}},
		{":nonce:1", Mark{}}, {"run::1", Mark{}}, {"::", Mark{}}, {"run:nonce:1.5", Mark{}}, {" :", Mark{}},
		{"run:nonce:9223372036854", Mark{RunID: "run", Nonce: "nonce", Offset: 9223372036854 * ms}},
		{"run:nonce:9223372036855", Mark{}},
		{"run:nonce:-9223372036855", Mark{}},
		{"run:nonce:9223372036854775808", Mark{}},
		{"Teaching", Mark{}}, {"teaching", Mark{}}, {strings.Repeat(":", 1<<16), Mark{}},
	} {
		if got := ParseMark(c.text); got != c.want {
			t.Errorf("%.40q: %+v, want %+v", c.text, got, c.want)
		}
	}
}

// Everything of ours on a node is refused to clients by one prefix.
func TestP12ReservedKeys(t *testing.T) {
	for _, s := range []string{MarkKey, TeacherKey, ProbeKey, Blocker} {
		if !strings.HasPrefix(s, Reserved) || s == Reserved {
			t.Errorf("%q", s)
		}
	}
}

// A life of a node's memory is named by run_id and nonce, not by the offset, and none is a prefix of another.
func TestP4VouchOf(t *testing.T) {
	for text, want := range map[string]string{
		"run:nonce:5": "run:nonce:", "run:nonce:-7": "run:nonce:", "run:nonce2:5": "run:nonce2:",
		"": "", "teaching:x": "", "run:nonce": "", "run:nonce:x": "",
	} {
		if got := VouchOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Law: what a mark is written as is read as that mark again, and a mark that was read is written the same way ever after.
func FuzzMarkInverse(f *testing.F) {
	for _, s := range []string{
		"", "teaching:abc", "teaching:", "teaching:a:b:1", "run:nonce:0", "run:nonce:-0", "run:nonce:+7", "run:nonce:007", "run:nonce:-1500",
		"run:nonce:9223372036854", "run:nonce:-9223372036854", "run:nonce:9223372036855", "run:nonce:-9223372036854775808",
		"::", "a::1", ":b:1", "a:b:c", "a:b:1:", "a\x00b:\xff:1", "teachinG:a:1", "run:teaching:1", redisRunID + ":" + "0123456789abcdef" + ":250",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := ParseMark(s)
		written := m.String()
		if again := ParseMark(written); again != m {
			t.Fatalf("%q is %+v, written %q, which is %+v", s, m, written, again)
		}
		if ParseMark(written).String() != written {
			t.Fatalf("%q is written %q, and then otherwise", s, written)
		}
		switch vouch := VouchOf(s); {
		case m == (Mark{}) && written != "":
			t.Fatalf("%q: no mark is written %q", s, written)
		case m.RunID != "" && (m.Nonce == "" || strings.HasPrefix(s, teaching) || strings.Contains(m.RunID+m.Nonce, ":")):
			t.Fatalf("%q vouches: %+v", s, m)
		case (vouch == "") != (m.RunID == "") || !strings.HasPrefix(s, vouch) || vouch != "" && VouchOf(written) != vouch:
			t.Fatalf("%q: vouch %q, written %q", s, vouch, written)
		}
		if m.RunID != "" { // whatever the offset becomes, it is the same vouch (P4), to whole milliseconds
			m.Offset += time.Duration(len(s)) * 1234567
			if later := ParseMark(m.String()); later.Offset > m.Offset && m.Offset >= 0 || VouchOf(m.String()) != VouchOf(s) {
				t.Fatalf("%q renewed is %q", s, m)
			}
		}
	})
}

const redisRunID = "73b9d9f4e0b1c2a3948576655443322110ffeedd"
