package conf

import (
	"regexp"
	"testing"
)

// FuzzFile asserts: whatever the file holds, each of its mistakes names the file and a line that exists.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"", "nodes = ['h:1', \"h:2\"]\nmax-args = 0x10", "[a]\nb = 1", "x = {y = 1}\n[[z]]", "max-key = '1\n", "a.b.\"c d\" = 1979-05-27", "\xef\xbb\xbfpad-ttl = true",
	} {
		f.Add(text)
	}
	place := regexp.MustCompile(`^redlockd\.toml:(\d+): `)
	f.Fuzz(func(t *testing.T, text string) {
		l := newLoader(new(Config))
		for _, g := range l.document("redlockd.toml", []byte(text)) {
			l.apply([]given{g})
		}
		for _, m := range l.mistakes {
			if !place.MatchString(m.Error()) {
				t.Errorf("%q has no place", m)
			}
		}
	})
}
