package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports is who may import whom among our packages. Everything else is forbidden.
var imports = map[string][]string{
	"redlockd":                         {"commands", "conf", "proxy", "quorum", "quorum/backend", "quorum/backend/demo"},
	"redlockd/conf":                    {},
	"redlockd/commands":                {},
	"redlockd/quorum":                  {},
	"redlockd/quorum/backend":          {"quorum"},
	"redlockd/quorum/backend/demo":     {"quorum"},
	"redlockd/quorum/quorumtest":       {"quorum"},
	"redlockd/quorum/quorumtest/model": {},
	"redlockd/proxy":                   {"commands", "quorum"},
	// The simulator is told what to say to nodes, and what they mean, by those who do; the sockets of backend it leaves alone.
	"redlockd/quorum/quorumtest/sim": {"quorum", "quorum/backend", "quorum/quorumtest"},
	// bench sim only starts it.
	"redlockd/bench":   {"bench/*", "quorum/quorumtest/sim"},
	"redlockd/bench/*": {"bench/*"},
}

// pure packages open nothing: what they may not import of the standard library and of others.
var pure = map[string][]string{
	"redlockd/quorum":   {"net", "os", "log", "context", "github.com/gomodule", "github.com/tidwall"},
	"redlockd/commands": {"net", "os", "log", "github.com/gomodule", "github.com/tidwall"},
	// What bench makes of its figures is data to bytes.
	"redlockd/bench/report": {"net", "os", "log"},
	"redlockd/bench/plot":   {"net", "os", "log", "time", "redlockd"},
}

// deciding files of quorum are told the time and start nothing.
var deciding = []string{"mark.go", "clock.go", "watch.go", "lesson.go", "vote.go", "judge.go", "round.go", "validity.go", "health.go", "request.go", "errors.go", "bug.go", "planted.go", "planted_on.go"}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, imported := words[0], words[1:]
		rule := name
		if strings.HasPrefix(name, "redlockd/bench/") {
			rule = "redlockd/bench/*"
		}
		allowed, known := imports[rule]
		if !known {
			t.Errorf("%s is a new package: say in this test what it may import", name)
		}
		for _, i := range imported {
			ours, is := strings.CutPrefix(i, "redlockd/")
			if !is {
				continue
			}
			seen++
			if !slices.Contains(allowed, ours) && !(slices.Contains(allowed, "bench/*") && strings.HasPrefix(ours, "bench/")) {
				t.Errorf("%s imports %s", name, i)
			}
		}
		for _, bad := range pure[name] {
			if i := slices.IndexFunc(imported, func(i string) bool { return i == bad || strings.HasPrefix(i, bad+"/") }); i >= 0 {
				t.Errorf("%s imports %s", name, imported[i])
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d imports seen", seen)
	}
}

// The deciding files read no clock, start no goroutine, and wait for nothing.
func TestDecidingFilesArePure(t *testing.T) {
	for _, file := range deciding {
		source, err := os.ReadFile("quorum/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for _, bad := range []string{"time.Now", "time.Since", "time.Sleep", "time.After", "time.NewTimer", "\tgo ", "sync.", "<-", "rand."} {
			if strings.Contains(text, bad) {
				t.Errorf("quorum/%s has %q", file, bad)
			}
		}
	}
}
