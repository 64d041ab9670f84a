package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lines is the joined error, one mistake a line.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestAllMistakesAtOnce(t *testing.T) {
	file := fileOf(t, strings.Join([]string{
		`max-argz = 3`,
		`max-args = "3"`,
		`node-timeout = 50`,
		`nodes = ["h:1", 2]`,
		`pad-ttl = "yes"`,
		`config = "x"`,
		`listen = 1.5`,
		`scripts = 0`,
		`scripts = 5`,
		`[locks]`,
		`max.ttl = "1h"`,
		`max-key = {a = 1}`,
		`max-token = 1979-05-27`,
		`max-clients = 99999999999999999999`,
		`log-level = `,
	}, "\n"))
	args := []string{
		file, "stray", "--nodez", "h:1", "--max-pipeline", "--dial-timeout=fast", "--split-retries=11",
		"--log-format=xml", "--pad-ttl=maybe", "--max-bulk=9MiB", "--max-command=4x", "--listen=", "--drain-timeout", "-5s", "--write-timeout",
	}
	environ := []string{
		"REDLOCKD_NODE_TIMOUT=1s", "REDLOCKD_A\nB=1", "REDLOCKD_node_timeout=1s", "REDLOCKD_CHECK=true", "REDLOCKD_PORT=6380", "REDLOCKD_NODES=h:1,,h:0",
		"REDLOCKD_ROUND_LIMIT=3s", "REDLOCKD_MAX_TTL=2s",
	}
	_, err := Load(args, environ)
	at := strings.TrimPrefix(file, "--config=")
	want := []string{
		"argument 2 is not an option: options begin with two dashes (--nodes), and a boolean's value follows a =",
		"--nodez: there is no such option",
		"--max-pipeline: the value is missing",
		"--write-timeout: the value is missing",
		"REDLOCKD_NODE_TIMOUT: there is no such option",
		`"REDLOCKD_A\nB": there is no such option`,
		"REDLOCKD_node_timeout: there is no such option",
		"REDLOCKD_CHECK: can only be given as a flag, --check",
		"REDLOCKD_PORT: there is no such option",
		at + ":1: max-argz: there is no such option",
		at + ":2: max-args: the value is a string and must be an integer",
		at + ":3: node-timeout: the value is an integer and must be a string",
		at + ":4: nodes: value 2 of the array is an integer and must be a string",
		at + ":5: pad-ttl: the value is a string and must be a boolean",
		at + ":6: config: cannot be given in a file",
		at + ":7: listen: the value is a float and must be a string",
		at + ":9: scripts: stands on line 8 already",
		at + ":10: locks: there are no tables: write every option at the top",
		at + ":11: max.ttl: there is no such option",
		at + ":12: max-key: the value is a table and must be an integer or a string",
		at + ":13: max-token: the value is a date or time and must be an integer or a string",
		at + ":14: max-clients: the number does not fit",
		at + ":15: not TOML: expected value, not end of input",
		at + ":8: scripts: 0 is outside 1 to 1000000",
		"REDLOCKD_NODES: node 2 of 3: it is empty",
		"REDLOCKD_NODES: node 3 of 3: the port is not a number from 1 to 65535",
		`--dial-timeout: "fast" is not a duration: write a number and a unit, like 50ms, 1.5s or 24h`,
		"--split-retries: 11 is outside 0 to 10",
		`--log-format: "xml" is not one of text | json`,
		`--pad-ttl: "maybe" is neither true nor false`,
		`--max-command: "4x" is not a size: write bytes, or a whole number with KB or KiB (1024 bytes), MB or MiB`,
		"--listen: the value is empty: leave the option out for its default",
		"--drain-timeout: -5s is outside 10ms to 10m",
		"round-limit 3s must be at most max-ttl 2s: no round may take longer than any lock lives",
	}
	if got := lines(err); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// limits of every number in the table, written out a second time: a limit that moves must be moved here too.
var limits = map[string][2]string{
	"node-timeout": {"1ms", "10s"}, "node-silence": {"10ms", "1m"}, "dial-timeout": {"10ms", "1m"},
	"reconnect-min": {"1ms", "1m"}, "reconnect-max": {"1ms", "10m"},
	"pipe-queue": {"1", "1048576"}, "owed-per-node": {"1", "1048576"},
	"clock-tolerance": {"10ms", "1m"},
	"max-ttl":         {"1s", "8760h"}, "round-limit": {"10ms", "1m"}, "rounds-in-flight": {"1", "1048576"}, "split-retries": {"0", "10"}, "split-delay": {"1ms", "1s"},
	"max-key": {"1", "16MiB"}, "max-token": {"1", "16MiB"}, "scripts": {"1", "1000000"}, "script-bytes": {"64", "1MiB"},
	"max-clients": {"1", "1000000"}, "idle-timeout": {"0s", "8760h"},
	"command-timeout": {"10ms", "10m"}, "write-timeout": {"10ms", "10m"}, "max-args": {"16", "1048576"},
	"max-bulk": {"64", "512MiB"}, "max-inline": {"64", "512MiB"}, "max-command": {"128", "1024MiB"},
	"max-pipeline": {"1", "1048576"}, "drain-timeout": {"10ms", "10m"},
}

// TestLimits tries every number at its limits and one past them.
func TestLimits(t *testing.T) {
	var c Config
	for _, o := range rows(&c) {
		if o.number == nil {
			continue
		}
		lo, hi := limits[o.name][0], limits[o.name][1]
		for i, text := range []string{lo, hi} {
			if err := o.set(text); err != nil || o.show() != text {
				t.Errorf("%s %s at its limit: shown as %s, %v", o.name, text, o.show(), err)
			}
			past := shifted(o, int64(2*i-1))
			if err := o.set(past); err == nil || !strings.Contains(err.Error(), "is outside "+lo+" to "+hi) {
				t.Errorf("%s %s is one past its limit: %v", o.name, past, err)
			}
			if o.show() != text {
				t.Errorf("%s: a refused value was kept", o.name)
			}
		}
	}
}

// shifted writes the number of o plus delta: nanoseconds for durations.
func shifted(o option, delta int64) string {
	n := o.number() + delta
	if strings.HasPrefix(o.unit, "duration") {
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// TestLaws tries every law at its limit and one past it. start makes room around both options, so that no other law is
// touched.
func TestLaws(t *testing.T) {
	start := "--node-timeout=100ms --node-silence=10s --round-limit=1s --max-ttl=10s --drain-timeout=10s --split-delay=50ms " +
		"--reconnect-min=1s --reconnect-max=2s --max-key=200 --max-token=200 --script-bytes=200 --max-bulk=1000 --max-inline=1000 --max-command=5000"
	at := map[string][3]string{ // both options at the limit, then the smaller one past it
		"node-timeout round-limit":    {"--node-timeout=199999999ns", "--round-limit=200ms", "--node-timeout=200ms"},
		"node-timeout node-silence":   {"--node-timeout=199999999ns", "--node-silence=200ms", "--node-timeout=200ms"},
		"round-limit max-ttl":         {"--round-limit=1s", "--max-ttl=1s", "--round-limit=1000000001ns"},
		"round-limit drain-timeout":   {"--round-limit=1s", "--drain-timeout=1s", "--round-limit=1000000001ns"},
		"split-delay round-limit":     {"--split-delay=199999999ns", "--round-limit=200ms", "--split-delay=200ms"},
		"reconnect-min reconnect-max": {"--reconnect-min=1s", "--reconnect-max=1s", "--reconnect-min=1000000001ns"},
		"max-bulk max-command":        {"--max-bulk=4999", "--max-command=5000", "--max-bulk=5000"},
		"max-inline max-command":      {"--max-inline=5000", "--max-command=5000", "--max-inline=5001"},
		"script-bytes max-bulk":       {"--script-bytes=1000", "--max-bulk=1000", "--script-bytes=1001"},
		"max-key max-bulk":            {"--max-key=1000", "--max-bulk=1000", "--max-key=1001"},
		"max-token max-bulk":          {"--max-token=1000", "--max-bulk=1000", "--max-token=1001"},
	}
	for _, w := range laws {
		given := at[w.small+" "+w.large]
		args := append(strings.Fields(start), given[0], given[1])
		load(t, args, nil)
		_, err := Load(append(args, given[2]), nil)
		want := fmt.Sprintf("%s must be %s %s ", strings.NewReplacer("--", "", "=", " ").Replace(given[2]), w.than, w.large)
		want = strings.Replace(want, "1000000001ns", "1.000000001s", 1)
		if got := lines(err); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(laws) != len(at) {
		t.Errorf("%d laws, %d tried", len(laws), len(at))
	}
}

func TestBrokenLawShowsBothNumbers(t *testing.T) {
	_, err := Load([]string{"--node-timeout=800ms"}, nil)
	if got := lines(err); len(got) != 1 || !strings.HasPrefix(got[0], "node-timeout 800ms must be below round-limit 500ms") {
		t.Errorf("got %q", got)
	}
}

// TestSpoiltOptionsAreNotJudged: a typo in one option must not be followed by complaints of what its default breaks.
func TestSpoiltOptionsAreNotJudged(t *testing.T) {
	for _, args := range [][]string{
		{"--max-bulk=1Mib.", "--max-key=100KiB"},
		{"--max-key=100KiB", "--max-bulk"},
		{"--max-key=100KiB", fileOf(t, "max-bulk = true")},
		{"--max-bulk=2KiB", "--script-bytes=1KiB", "--max-token=1KiB", "--max-key=1K"},
	} {
		if _, err := Load(args, nil); len(lines(err)) != 1 || strings.Contains(err.Error(), " must be at most ") {
			t.Errorf("%q: got %q", args, lines(err))
		}
	}
}

// TestQuote: what may hold a password, or is too long for a line of a log, is not repeated.
func TestQuote(t *testing.T) {
	for _, text := range []string{"", "xml", "1 KB", strings.Repeat("x", maxQuote)} {
		if got := quote(text); got != strconv.Quote(text) {
			t.Errorf("%q is shown as %s", text, got)
		}
	}
	for _, text := range []string{"u:p@h", "redis://p", strings.Repeat("x", maxQuote+1)} {
		if got := quote(text); strings.Contains(got, text) {
			t.Errorf("%q is shown as %s", text, got)
		}
		if got := nameOf(text); strings.Contains(got, text) {
			t.Errorf("%q is named as %s", text, got)
		}
		var l loader
		l.document(text, []byte("=\na=1"))
		if len(text) <= maxQuote && strings.Contains(l.mistakes[0].Error(), text) {
			t.Errorf("the file %q is named in %v", text, l.mistakes)
		}
		if l.flags([]string{"--" + text}); strings.Contains(l.mistakes[1].Error(), text) {
			t.Errorf("the flag %q is named in %v", text, l.mistakes[1])
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "1": 1, "1KB": 1024, "1KiB": 1024, "1kb": 1024, "2 MB": 2 << 20, "3MiB": 3 << 20, "2047MiB": 2047 << 20,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "KB", "1.5KB", "1GB", "1B", "1 K", "2048MiB", "99999999999999999999", "1KBKB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}

func TestWarnings(t *testing.T) {
	three := "--nodes=a:1,b:1,c:1"
	for _, c := range []struct {
		args string
		want string
	}{
		{three, ""},
		{"", "nodes: none are given"},
		{"--nodes=a:1", "nodes: a single node has no redundancy"},
		{"--nodes=a:1,b:1", "nodes: 2 nodes survive no failure"},
		{"--nodes=a:1,b:1,c:1,d:1", "nodes: 4 nodes survive no more failures than 3"},
		{"--nodes=a:1,b:1,a:1/1", "nodes: a:1/1 is on a server that another node is on"},
		{three + " --listen=localhost:1", ""},
		{three + " --listen=[::1]:1", ""},
		{three + " --listen=127.9.9.9:1", ""},
		{three + " --listen=:6380", "listen: :6380 can be reached"},
		{three + " --listen=redlockd.example:6380", "listen: redlockd.example:6380 can be reached"},
		{three + " --round-limit=100ms", ""},
		{three + " --round-limit=99ms", "round-limit: 99ms is less than twice node-timeout 50ms"},
	} {
		got := load(t, strings.Fields(c.args), nil).Warnings
		if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: got %q, want %q", c.args, got, c.want)
		}
	}
}
