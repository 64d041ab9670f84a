package proxy

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abbd", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"**a**", "bab", true}, {"a*b*c", "a1b2b3c", true}, {"a*b*c", "a1c2", false},
		{"[abc]", "b", true}, {"[^abc]", "b", false}, {"[^abc]", "d", true}, {"[a-c]x", "bx", true}, {"[c-a]x", "bx", true},
		{"[a-c", "b", true}, {"[", "[", false}, {"[]", "a", false}, {`\*`, "*", true}, {`\*`, "a", false}, {`\`, `\`, true},
		{`[\]]`, "]", true}, {"[a-]", "-", false}, {"*[0-9]", "a7", true}, {"*.*", "a.b", true}, {"abc", "ABC", false},
		{"__keyspace@*__:*", "__keyspace@0__:k", true}, {"a*", "b", false}, {"*a", "ab", false}, {"?", "", false},
	} {
		if got := glob([]byte(c.pattern), []byte(c.text)); got != c.want {
			t.Errorf("%q of %q: %v", c.pattern, c.text, got)
		}
	}
	// Patterns that cost others a lifetime.
	if glob([]byte(strings.Repeat("*a", 200)), []byte(strings.Repeat("a", 100)+"b")) {
		t.Error("matched")
	}
}

// FuzzGlob compares with the definition, which is slow and short.
func FuzzGlob(f *testing.F) {
	f.Add("a*[b-d]?", "axcy")
	f.Add(`[^\]`, "a")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 12 || len(text) > 12 {
			return
		}
		if got, want := glob([]byte(pattern), []byte(text)), globDefined([]byte(pattern), []byte(text)); got != want {
			t.Errorf("%q of %q: %v, want %v", pattern, text, got, want)
		}
	})
}

func globDefined(pattern, text []byte) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	if pattern[0] == '*' {
		for i := 0; i <= len(text); i++ {
			if globDefined(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	}
	if len(text) == 0 {
		return false
	}
	next, ok := globOne(pattern, 0, text[0])
	return ok && globDefined(pattern[next:], text[1:])
}
