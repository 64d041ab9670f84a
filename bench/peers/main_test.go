package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlockd/bench/measure"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// redlockd is the binary that all tests measure.
var redlockd string

func TestMain(m *testing.M) { os.Exit(withRedlockd(m)) }

func withRedlockd(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redlockd-peers-")
	if err == nil {
		defer os.RemoveAll(dir)
		redlockd, err = servers.BuildRedlockd(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// runPeers runs the whole program in a temporary directory of its own and checks that it leaves nothing in there, and no process.
func runPeers(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var complaint bytes.Buffer
	code, stdout = runWith(t, ctx, &complaint, args...)
	return code, stdout, complaint.String()
}

func runWith(t *testing.T, ctx context.Context, stderr io.Writer, args ...string) (code int, stdout string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	before := children(t)
	var out bytes.Buffer
	code = command(stderr).Run(ctx, append(args, "--redlockd", redlockd), &out, stderr)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if after := children(t); after != before {
		t.Errorf("processes left behind: %q, before %q", after, before)
	}
	return code, out.String()
}

// children are our processes' names, as the kernel lists them.
func children(t *testing.T) string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, list := range lists {
		pids, _ := os.ReadFile(list) // a thread that is gone has none
		for _, pid := range strings.Fields(string(pids)) {
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			names = append(names, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	return strings.Join(names, ", ")
}

// smoke is rows of each peer, by its target, one of them a refused or a contended one.
var smoke = map[string]struct {
	rows    []string
	machine bool // it needs more than redis-server, and may be left out
}{
	"redsync-redigo":    {rows: []string{"redsync-redigo-5/take/c50/p1/stopped", "redsync-redigo-5/refused/c50/p1", "redsync-redigo-5/contended/c50/p1"}},
	"redsync-failfast":  {rows: []string{"redsync-failfast-5/take/c50/p1"}},
	"redsync-goredis":   {rows: []string{"redsync-goredis-5/cycle/c50/p1"}},
	"redlock-node":      {rows: []string{"redlock-node-5/take/c50/p1", "redlock-node-5/refused/c50/p1", "redlock-node-5/contended/c50/p1"}, machine: true},
	"rueidislock":       {rows: []string{"rueidislock-1/cycle/c50/p1"}},
	"rueidislock-3keys": {rows: []string{"rueidislock-3keys-1/cycle/c50/p1"}},
	"twemproxy":         {rows: []string{"twemproxy-1/take/c50/p1"}, machine: true},
	"etcd":              {rows: []string{"etcd/cycle/c50/p1"}, machine: true},
}

// Every peer from the flags to the JSON, and those that are left out are said to be. An answer may be late and wrong only where
// a node is stopped: there it has 50 ms.
func TestSmoke(t *testing.T) {
	list, err := peers(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		s, ok := smoke[string(p.Target)]
		if !ok {
			t.Errorf("no row of %s is tried here", p.Target)
		}
		if p.Missing != "" && !s.machine {
			t.Errorf("%s is left out: %s", p.Target, p.Missing)
		}
		names = append(names, s.rows...)
	}
	file := filepath.Join(t.TempDir(), "out.json")
	code, stdout, stderr := runPeers(t, context.Background(), "--quick", "--rows", "^("+strings.Join(names, "|")+")$", "--json", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("code %d, %v\n%s", code, err, stderr)
	}
	var got struct {
		Rows []struct {
			Name       string
			Ops        uint64
			Errors     uint64
			FirstError string  `json:"first_error"`
			P50        float64 `json:"p50_ms"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, r := range got.Rows {
		measured[r.Name] = true
		if r.Ops == 0 || r.P50 <= 0 || r.Errors > 0 && !strings.HasSuffix(r.Name, "/stopped") {
			t.Errorf("%+v", r)
		}
	}
	for _, p := range list {
		said := strings.Contains(stdout, "left out: "+p.Label+": "+p.Missing+"\n")
		if said != (p.Missing != "") {
			t.Errorf("%s: missing %q, said so: %v\n%s", p.Target, p.Missing, said, stdout)
		}
		for _, row := range smoke[string(p.Target)].rows {
			if measured[row] != (p.Missing == "") {
				t.Errorf("%s: missing %q, %s measured: %v\n%s", p.Target, p.Missing, row, measured[row], stderr)
			}
		}
		if p.Missing == "" && strings.Contains(p.Version, unknown) {
			t.Errorf("%s: %s", p.Target, p.Version)
		}
		t.Logf("%s %s %s", p.Target, p.Version, p.Missing)
	}
}

// The usual rows and no others, unless all are asked for; each beside one of redlockd.
func TestRows(t *testing.T) {
	list, err := peers(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	_, usual, _ := runPeers(t, context.Background(), "--list")
	_, all, _ := runPeers(t, context.Background(), "--list", "--all")
	has := func(out string, r rows.Row) bool { return strings.Contains("\n"+out, "\n"+r.Name()+"\n") }
	for _, p := range list {
		for _, r := range p.Rows {
			beside, ok := r.RedlockdRow()
			if there := p.Missing == ""; has(usual, r) != there || has(all, r) != there || there && !(ok && has(usual, beside)) {
				t.Errorf("%s: usual %v, all %v; beside it %s: %v", r.Name(), has(usual, r), has(all, r), beside.Name(), has(usual, beside))
			}
		}
		for _, r := range p.More {
			beside, ok := r.RedlockdRow()
			if there := p.Missing == ""; has(usual, r) || has(all, r) != there || there && !(ok && has(all, beside)) {
				t.Errorf("%s: usual %v, all %v; beside it %s: %v", r.Name(), has(usual, r), has(all, r), beside.Name(), has(all, beside))
			}
		}
	}
}

// Ctrl-C in the middle of a row, also of a peer with processes of its own: runPeers looks for what is left.
func TestInterrupted(t *testing.T) {
	list, err := peers(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"redsync-redigo-5/take/c50/p1", "redlock-node-5/take/c1/p1"} {
		if leftOut(list, row) {
			t.Logf("left out on this machine: %s", row)
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		stderr := &watched{word: "] " + row, seen: func() { time.AfterFunc(500*time.Millisecond, cancel) }}
		code, stdout := runWith(t, ctx, stderr, "--seconds", "0.5", "--rows", "^"+row+"$")
		if code != 130 || !strings.Contains(stdout, "INTERRUPTED") {
			t.Errorf("%s: code %d\n%s", row, code, stderr)
		}
		cancel()
	}
}

// watched calls seen when a word is written to it.
type watched struct {
	bytes.Buffer
	word string
	seen func()
}

func (w *watched) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.word) {
		w.seen()
	}
	return w.Buffer.Write(b)
}

func leftOut(list []measure.Peer, row string) bool {
	for _, p := range list {
		if strings.HasPrefix(row, string(p.Target)) && p.Missing != "" {
			return true
		}
	}
	return false
}

// A machine without anything: the libraries stay, the others say what they lack.
func TestLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var said bytes.Buffer
	list, err := peers(&said)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		why := p.Missing
		switch p.Target {
		case "redlock-node", "etcd":
			if !strings.Contains(why, "on this machine; --install, or apt-get install ") {
				t.Errorf("%s: %q", p.Target, why)
			}
		case "twemproxy": // is found outside PATH
			if there := (program{"/usr/sbin/nutcracker", ""}).find() != ""; there != (why == "") {
				t.Errorf("twemproxy is there: %v, and %q", there, why)
			}
		default:
			if why != "" {
				t.Errorf("%s: %q", p.Target, why)
			}
		}
	}
	if got := missing(program{"no-such-a", "package-a"}, program{"no-such-b", "package-b"}); got !=
		"no no-such-a, no-such-b on this machine; --install, or apt-get install package-a package-b" {
		t.Error(got)
	}
	if err := install(&said, program{"no-such", "no-such"}); err == nil || !strings.Contains(err.Error(), "--install: ") {
		t.Error(err)
	}
	if !strings.Contains(said.String(), "installing no-such\n") {
		t.Errorf("%q", said.String())
	}
}
