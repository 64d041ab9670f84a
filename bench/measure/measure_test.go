package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// runBench runs the whole program in a temporary directory of its own and checks that it leaves nothing in there.
func runBench(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var out, complaint bytes.Buffer
	code = Command{Name: "go run ./bench"}.Run(ctx, args, &out, &complaint)
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return code, out.String(), complaint.String()
}

func needRedis(t *testing.T) {
	t.Helper()
	for _, p := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatal(p + " is not installed: ./test.sh installs it")
		}
	}
}

// fake takes redlockd's place: a single redis-server behind redlockd's flags, after a line of shell, with flags of its own.
func fake(t *testing.T, also string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo fake 0; exit; }\n" + also +
		"\nexec redis-server --bind 127.0.0.1 --save '' --port ${2##*:} " + strings.Join(flags, " ") + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMistakesInFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--seconds 0":         "--seconds is 0; it must lie between 0.05 and 20",
		"--seconds NaN":       "must lie between",
		"--seconds 30":        "locks taken live 30 s",
		"--seconds 1 --quick": "--quick and --seconds exclude each other",
		"--rows a --all":      "--rows and --all exclude each other",
		"--rows (":            "--rows: error parsing regexp",
		"--rows nonsense":     `--rows "nonsense" matches no row; see --list`,
		"peers":               `unexpected argument "peers"`,
		"--no-such":           "flag provided but not defined",
	} {
		code, stdout, stderr := runBench(t, context.Background(), strings.Fields(args)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q", args, code, stderr)
		}
	}
	if code, _, stderr := runBench(t, context.Background(), "--help"); code != exitOK || !strings.Contains(stderr, "-seconds") {
		t.Errorf("--help: code %d, %q", code, stderr)
	}
	code, stdout, _ := runBench(t, context.Background(), "--list", "--rows", "stopped")
	if code != exitOK || !strings.Contains(stdout, "redlockd-5/take/c50/p1/stopped\n") || !strings.Contains(stdout, "direct/take/c50/p1\n") {
		t.Errorf("--list: code %d, %q", code, stdout)
	}
}

// The usual rows are a part of all, and --rows chooses of all.
func TestUsualRowsAndAll(t *testing.T) {
	lines := func(args ...string) int {
		code, stdout, _ := runBench(t, context.Background(), append(args, "--list")...)
		if code != exitOK {
			t.Errorf("%s: code %d", args, code)
		}
		return strings.Count(stdout, "\n")
	}
	usual, all, chosen := lines(), lines("--all"), lines("--rows", "")
	if usual < 40 || usual > 100 || all < 2*usual || chosen != all {
		t.Errorf("%d usual rows, %d of all, %d chosen of all", usual, all, chosen)
	}
}

// One row against a real redis-server, from the flags to the JSON.
func TestSmokeDirect(t *testing.T) {
	needRedis(t)
	file := filepath.Join(t.TempDir(), "out.json")
	code, stdout, stderr := runBench(t, context.Background(), "--quick", "--rows", "^direct/cycle/c50/p16$", "--json", file)
	if code != exitOK || !strings.Contains(stdout, "one Redis, directly") {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []struct {
			Name   string
			Ops    uint64
			Errors uint64
			P99    float64 `json:"p99_ms"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || got.Rows[0].Ops == 0 || got.Rows[0].Errors != 0 || got.Rows[0].P99 <= 0 {
		t.Fatalf("got %s", text)
	}
}

// All the machinery of a proxy's row, with a Redis in the proxy's place: nodes, fault, floor.
func TestSmokeProxyAndFloor(t *testing.T) {
	needRedis(t)
	plots := t.TempDir()
	code, stdout, stderr := runBench(t, context.Background(), "--quick", "--plots", plots, "--redlockd", fake(t, ""),
		"--rows", "take/c50/p16/stopped|floor.*/p16|open50/(stopped|dead)")
	if code != exitOK {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	for _, want := range []string{"redlockd N=5  ", "redlockd N=5, one stopped", "5 redis-benchmark, one a node", "fake 0", "redlockd N=5, one dead ", "Open loop"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(plots, "latency-faults.svg")); err != nil || !bytes.Contains(svg, []byte("stopped")) {
		t.Errorf("the picture: %v, %s", err, svg)
	}
}

// redis-benchmark does not look at its answers; we count keys. The fake proxy brings none to the nodes.
func TestTakesThatLeaveNoKeyAreErrors(t *testing.T) {
	needRedis(t)
	code, stdout, _ := runBench(t, context.Background(), "--quick", "--redis-benchmark", "--rows", "redlockd-5/take/c50/p1/redis-benchmark",
		"--redlockd", fake(t, ""))
	if code != exitErrors || !strings.Contains(stdout, "ERRORS: redlockd-5/take/c50/p1/redis-benchmark: ") ||
		!strings.Contains(stdout, "only 0 keys of") {
		t.Fatalf("code %d\n%s", code, stdout)
	}
}

func TestProxyThatDoesNotStart(t *testing.T) {
	needRedis(t)
	code, _, stderr := runBench(t, context.Background(), "--quick", "--rows", "redlockd-1/take/c1/p1$", "--redlockd", fake(t, "echo boom >&2; exit 3"))
	if code != exitErrors || !strings.Contains(stderr, "ended with code 3") || !strings.Contains(stderr, "boom") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	code, _, stderr = runBench(t, context.Background(), "--quick", "--rows", "direct/take/c1/p1$", "--json", "/no/such/dir/x")
	if code != exitErrors || !strings.Contains(stderr, "--json") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	code, _, stderr = runBench(t, context.Background(), "--quick", "--rows", "direct/take/c1/p1$", "--plots", "/dev/null/x")
	if code != exitErrors || !strings.Contains(stderr, "--plots") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
}

// Ctrl-C in the middle of a row: what was measured is shown, and nothing is left (runBench looks).
func TestInterrupted(t *testing.T) {
	needRedis(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	began := time.Now()
	code, _, stderr := runBench(t, ctx, "--seconds", "20", "--rows", "^direct/take/c50/p1$")
	if code != exitInterrupted || !strings.Contains(stderr, "all servers are stopped") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if time.Since(began) > 10*time.Second {
		t.Fatal("took too long")
	}
}

func TestParseShot(t *testing.T) {
	const head = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n"
	got, err := parseShot("WARNING: Could not fetch server CONFIG\n" + head + `"SET a, ""b""","12000.50","1","2","3.5","4","5","6"` + "\n")
	if err != nil || got != (shot{rate: 12000.5, p50: 3.5, p99: 5, max: 6}) {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", head, head + `"x","1"`, head + `"x","a","1","1","1","1","1","1"`, head + `"x","0","1","1","1","1","1","1"`} {
		if got, err := parseShot(bad); err == nil {
			t.Errorf("%q: got %+v", bad, got)
		}
	}
}

func TestWhatRowsCannotAskFor(t *testing.T) {
	b := &bench{}
	if _, err := b.withRedisBenchmark(context.Background(), rows.Row{Work: load.Cycle}, nil); err == nil {
		t.Error("redis-benchmark does not release")
	}
	if err := (&Stage{Row: rows.Row{Fault: "flooded"}, Nodes: make([]*servers.Redis, 1)}).breakIt(); err == nil {
		t.Error("an unknown fault")
	}
}

func TestCPUReadings(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("no /proc")
	}
	from := usage{at: time.Now(), busy: busyCPU()}
	before, own := cpuOf(os.Getpid()), ownCPU()
	stop := watchStalls()
	for time.Since(from.at) < 300*time.Millisecond { // our own noise is somebody else's here
	}
	if d := cpuOf(os.Getpid()) - before; d < 100*time.Millisecond {
		t.Errorf("a busy loop of 300 ms cost %v by /proc", d)
	}
	if d := ownCPU() - own; d < 100*time.Millisecond {
		t.Errorf("a busy loop of 300 ms cost %v by getrusage", d)
	}
	if share := others(from, usage{at: time.Now(), busy: busyCPU()}); share <= 0 || share > 1 {
		t.Errorf("a share of %v", share)
	}
	if stop() < 0 {
		t.Error("a negative stall")
	}
	if cpuOf(-1) != 0 {
		t.Error("a process that is not there")
	}
}
