package measure

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/resp"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// broken is a stage of two nodes whose last one has the fault, from prepare to end.
func broken(t *testing.T, fault rows.Fault) *Stage {
	t.Helper()
	nodes, err := servers.StartFleet(t.TempDir(), 2)
	if err != nil {
		t.Fatal(err)
	}
	s := &Stage{Row: rows.Row{Fault: fault}, Nodes: nodes, Addrs: []string{nodes[0].Addr, nodes[1].Addr}}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Do(s.Addrs[1], time.Second, "SET", "k", "v"); err != nil {
		t.Fatalf("before anything is broken: %v", err)
	}
	if err := s.breakIt(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFaults(t *testing.T) {
	needRedis(t)
	const moment = 300 * time.Millisecond
	t.Run("stopped", func(t *testing.T) {
		s := broken(t, rows.Stopped)
		if _, err := resp.Do(s.Addrs[1], moment, "GET", "k"); err == nil {
			t.Error("a stopped node answers")
		}
	})
	t.Run("dead", func(t *testing.T) {
		s := broken(t, rows.Dead)
		if _, err := resp.Do(s.Addrs[1], moment, "GET", "k"); err == nil {
			t.Error("a dead node answers")
		}
	})
	t.Run("slow", func(t *testing.T) {
		s := broken(t, rows.Slow)
		began := time.Now()
		if reply, err := resp.Do(s.Addrs[1], time.Minute, "GET", "k"); err != nil || reply.Text != "v" || time.Since(began) < slowBy {
			t.Errorf("%s, %v after %v", reply, err, time.Since(began))
		}
	})
	t.Run("taught", func(t *testing.T) {
		s := broken(t, rows.Taught)
		if reply, err := resp.Do(s.Addrs[1], time.Minute, "GET", "k"); err != nil || !reply.Null {
			t.Errorf("%s, %v", reply, err)
		}
	})
	t.Run("restarting", func(t *testing.T) {
		s := broken(t, rows.Restarting)
		seen := map[string]bool{}
		for deadline := time.Now().Add(time.Minute); len(seen) < 3 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			reply, err := resp.Do(s.Addrs[1], time.Second, "INFO", "server")
			if _, id, ok := strings.Cut(reply.Text, "run_id:"); err == nil && ok {
				seen[id[:40]] = true
			}
		}
		if len(seen) < 3 {
			t.Errorf("%d lives within a minute", len(seen))
		}
	})
}

// The time of a process that was killed is not lost.
func TestCPUOfKilledNodesCounts(t *testing.T) {
	needRedis(t)
	s := broken(t, rows.Healthy)
	if _, err := s.Nodes[1].Do("EVAL", "for i = 1, 50 * 1000 * 1000 do end", 0); err != nil {
		t.Fatal(err)
	}
	before := s.nodesCPU()
	if err := s.fault.kill(s.Nodes[1]); err != nil {
		t.Fatal(err)
	}
	if after := s.nodesCPU(); before < 100*time.Millisecond || after < before-2*tick {
		t.Errorf("%v before, %v after", before, after)
	}
}

// Idle clients of a Redis that stands in redlockd's place: they are counted, and dropped ones are seen.
func TestIdleClients(t *testing.T) {
	needRedis(t)
	code, stdout, stderr := runBench(t, context.Background(), "--quick", "--rows", "idle", "--redlockd", fake(t, ""))
	if code != exitOK || !strings.Contains(stdout, "redlockd N=5: 200 clients: ") || !strings.Contains(stdout, "errors 0   --quick") {
		t.Errorf("code %d\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = runBench(t, context.Background(), "--quick", "--rows", "idle", "--redlockd", fake(t, "", "--maxclients", "100"))
	if code != exitErrors || !strings.Contains(stderr, "of 200: SET was answered") {
		t.Errorf("code %d\n%s\n%s", code, stdout, stderr)
	}
}

func TestOpenFiles(t *testing.T) {
	if n := openFiles(10); n != 10 {
		t.Errorf("%d files of 10", n)
	}
	if _, err := resident([]int{-1}); err == nil {
		t.Error("the memory of a process that is not there")
	}
}

// An open loop wants the rate of the closed one.
func TestOpenLoopWithoutARate(t *testing.T) {
	row := rows.Row{Target: rows.Redlockd, Nodes: 5, Work: load.Take, Clients: 50, Pipeline: 1, Open: 25, Fault: rows.Dead, Generator: rows.Own}
	closed, _ := row.ClosedRow()
	b := &bench{rates: map[rows.Row]float64{closed: 8000}}
	if rate, err := b.openRate(row); rate != 2000 || err != nil {
		t.Errorf("%v, %v", rate, err)
	}
	row.Nodes = 3
	if _, err := b.openRate(row); err == nil || !strings.Contains(err.Error(), "redlockd-3/take/c50/p1 has no rate to take 25 % of") {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	progress{w: &b, total: 70}.begin(8, rows.Row{Target: rows.Direct, Work: load.Take, Clients: 1, Pipeline: 1})
	if got := b.String(); !strings.HasPrefix(got, "[ 9/70] direct/take/c1/p1 ") {
		t.Errorf("got %q", got)
	}
}
