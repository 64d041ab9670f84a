package conf

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code says now; review the diff")

func TestUsage(t *testing.T) {
	golden := filepath.Join("testdata", "usage.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(Usage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := Usage(); got != string(want) {
		t.Errorf("Usage differs from %s; go test ./conf -update, then review:\n%s", golden, got)
	}
}

// TestUsageIsTrue feeds back what the help shows, line by line: each is accepted as it stands, and each default is the one
// in force.
func TestUsageIsTrue(t *testing.T) {
	bare := load(t, nil, nil)
	flags, variables, keys := 0, 0, 0
	check := func(line string, args, environ []string) {
		got := load(t, args, environ)
		for i, o := range rows(&got) {
			if o.def != "" && o.from != flagOnly && o.show() != rows(&bare)[i].show() {
				t.Errorf("%s: %s becomes %s", line, o.name, o.show())
			}
		}
	}
	for line := range strings.Lines(Usage()) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(line, "=/etc/redlockd.toml"): // need not be there
		case strings.HasPrefix(line, "--"):
			flags++
			check(line, []string{line}, nil)
		case strings.HasPrefix(line, "variable  "):
			variables++
			check(line, nil, []string{strings.TrimPrefix(line, "variable  ")})
		case strings.HasPrefix(line, "file      "):
			keys++
			check(line, []string{fileOf(t, strings.TrimPrefix(line, "file      "))}, nil)
		}
	}
	if all := len(rows(&bare)); flags != all-1 || variables != all-4 || keys != all-4 {
		t.Errorf("%d options: %d flags, %d variables, %d keys shown", all, flags, variables, keys)
	}
}

func TestUsageFitsATerminal(t *testing.T) {
	for line := range strings.Lines(Usage()) {
		if len(strings.TrimRight(line, "\n")) > helpWidth+10 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
}
