package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// language makes a language directory of two shell scripts.
func language(t *testing.T, install, run string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"install": install, "run": run} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// line is a row of JSON that passes, but for some checks.
func line(library string, but ...string) string {
	all := map[string]string{}
	for _, name := range checks {
		all[name] = passed
	}
	for i := 0; i < len(but); i += 2 {
		all[but[i]] = but[i+1]
	}
	var list []string
	for _, name := range checks {
		list = append(list, fmt.Sprintf("%q:%q", name, all[name]))
	}
	return fmt.Sprintf(`{"language":"Go","library":%q,"version":"1.0","how":"as it is","checks":{%s}}`, library, strings.Join(list, ","))
}

const refusedLine = `{"language":"Go","library":"hashes","version":"2","how":"","checks":{"refused":"ok"},"note":"hashes | sets"}`

// What a language's programs do, and what is said of it.
func TestLanguage(t *testing.T) {
	for _, c := range []struct {
		name, install, run string
		tally              tally
		shown              string // in what stdout is told
	}{
		{"all well", ":", "echo '" + line("a") + "'; echo '" + refusedLine + "'", tally{passed: 2}, "a 1.0, as it is  ok\n  hashes 2  refused, as it must be: hashes | sets\n"},
		{"where it runs", ":", `[ "$REDLOCKD_HOST $REDLOCKD_PORT" = "127.0.0.1 77" ] && echo '` + line("a") + "'", tally{passed: 1}, "ok"},
		{"no newline at the end", ":", "printf %s '" + line("a") + "'", tally{passed: 1}, "ok"},
		{"a failure", ":", "echo '" + line("a", "extend", "it\ndied", "expiry", "-") + "'; echo why >&2", tally{failed: 1}, "FAILED\n    extend: it died\n    | why\n"},
		{"no toolchain", "echo no go here >&2; exit 3", "exit 1", tally{skipped: 1}, "skipped: no go here\n"},
		{"install fails", "echo no network >&2; exit 1", ":", tally{failed: 1}, "FAILED: install: exit status 1\n    | no network\n"},
		{"run fails behind a row", ":", "echo '" + line("a") + "'; exit 9", tally{passed: 1, failed: 1}, "FAILED: run: exit status 9"},
		{"nothing", ":", ":", tally{failed: 1}, "no library was reported"},
		{"other words on stdout", ":", "echo hello", tally{failed: 1}, `in "hello"`},
		{"a line too long", ":", "head -c 70000 /dev/zero", tally{failed: 1}, "a line of more than 65536 bytes"},
		{"too many lines", ":", "yes '" + line("a") + "' | head -n 101", tally{passed: 100, failed: 1}, "more than 100 lines"},
		{"no program", "exec /nonexistent", ":", tally{failed: 1}, "FAILED: install"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout bytes.Buffer
			r := runLanguage(context.Background(), language(t, c.install, c.run), "127.0.0.1:77", &stdout)
			if got := summarise([]result{r}, false); got != c.tally || !strings.Contains(stdout.String(), c.shown) {
				t.Errorf("%+v, want %+v, and told\n%s", got, c.tally, stdout.String())
			}
		})
	}
}

func TestMissingToolchainCanBeAFailure(t *testing.T) {
	r := []result{{language: "go", skipped: "no go"}}
	if got := summarise(r, true); got != (tally{failed: 1}) {
		t.Errorf("%+v", got)
	}
}

// A program that hangs is killed with all that it has started, and what one leaves behind as well.
func TestNothingIsLeftRunning(t *testing.T) {
	for _, end := range []string{"sleep 60", "exit 0"} {
		dir := language(t, ":", "sleep 60 & echo $! > child; touch started; "+end)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(dir, "started")); err == nil && end != "exit 0" {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		runLanguage(ctx, dir, "127.0.0.1:77", new(bytes.Buffer))
		cancel()
		child, err := os.ReadFile(filepath.Join(dir, "child"))
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 { // SIGKILL was sent; the kernel takes a moment
			if command, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(child)) + "/cmdline"); len(command) == 0 {
				child = nil
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if child != nil {
			t.Errorf("%q left process %s", end, child)
		}
	}
}

func TestRows(t *testing.T) {
	for text, want := range map[string]string{
		line("a"):                           "",
		refusedLine:                         "",
		line("a") + "{}":                    "more than one value",
		line(""):                            "no language, library or version",
		line("a", "extend", ""):             `no result of "extend"`,
		`{"language":"Go","colour":"blue"}`: "unknown field",
		`{"language":"Go","library":"a","version":"1","checks":{"refused":"ok"}}`:                                                       "no note says why",
		`{"language":"Go","library":"a","version":"1","checks":{"refused":"ok","take":"ok"},"note":"why"}`:                              "other checks",
		line("a", "take", "-", "contend", "-", "release", "-", "release by another", "-", "extend", "-", "expiry", "-", "counter", "-"): "nothing was checked",
	} {
		_, err := parseRow(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

func TestReadme(t *testing.T) {
	rows := func(lines ...string) (list []row) {
		for _, l := range lines {
			r, err := parseRow(l)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return list
	}
	results := []result{{language: "go", rows: rows(line("a", "extend", "-"), line("b", "expiry", "1 | 2"), refusedLine)}}
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte("before\n"+beginMark+"old\n"+endMark+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = `before
<!-- clients:begin -->

| | library | how | take | contend | release | release by another | extend | expiry | counter | |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Go | a 1.0 | as it is | ok | ok | ok | ok | - | ok | ok |  |
| Go | b 1.0 | as it is | ok | ok | ok | ok | ok | **no** | ok | expiry: 1 \| 2 |

Refused, with an error that says what is missing:

| | library | needs |
| --- | --- | --- |
| Go | hashes 2 | hashes \| sets |

<!-- clients:end -->
after
`
	for range 2 { // the second time changes nothing
		if err := writeReadme(path, results); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Fatalf("%s", got)
		}
	}
	if err := writeReadme(path, append(results, result{language: "php", skipped: "no php"})); err == nil || !strings.Contains(err.Error(), "php was not run") {
		t.Errorf("a table without PHP: %v", err)
	}
	if _, err := between("no marks", ""); err == nil {
		t.Error("no marks, and no error")
	}
}

func TestMistakesInFlags(t *testing.T) {
	dir := filepath.Dir(language(t, ":", ":"))
	for args, want := range map[string]string{
		"--only cobol":               "--only cobol: there are 001",
		"--readme --only 001":        "--readme wants a run of all languages",
		"--keep --target 1.2.3.4:56": "exclude each other",
		"go":                         `unexpected argument "go"`,
	} {
		if _, err := parse(strings.Fields(args), dir, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	o, err := parse([]string{"--only", "001,001"}, dir, new(bytes.Buffer))
	if err != nil || strings.Join(o.languages, " ") != "001" {
		t.Errorf("%v, %v", o.languages, err)
	}
}
