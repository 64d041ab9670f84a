package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is a small run in which every column and every kind of line occurs.
func sample() *Report {
	direct := rows.Row{Target: rows.Direct, Nodes: 1, Work: load.Take, Clients: 50, Pipeline: 1, Generator: rows.Own}
	healthy := rows.Row{Target: rows.Redlockd, Nodes: 5, Work: load.Take, Clients: 50, Pipeline: 1, Generator: rows.Own}
	stopped, second, lonely := healthy, healthy, healthy
	stopped.Fault = rows.Stopped
	second.Generator = rows.RedisBenchmark
	lonely.Work, lonely.Clients = load.Cycle, 1
	floor, _ := healthy.FloorRow()

	r := &Report{
		Command: "go run ./bench", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seconds: 2.5,
		Machine: Machine{Cores: 2, CPU: "Some CPU", System: "linux/amd64", Load: "0.01", Go: "go1.26", Redis: "7.0.15", Redlockd: "redlockd 1"},
	}
	add := func(row rows.Row, rate, p50, p99 float64, errors uint64) {
		l := NewLine(row)
		l.PerSecond, l.P50, l.P99, l.Errors, l.CPU = rate, p50, p99, errors, CPU{7.5, rate / 10000, 12}
		if errors > 0 {
			l.FirstError = "got (nil), want +OK"
		}
		r.Add(l)
	}
	add(stopped, 19_000, 2.2, 5.5, 3) // before what it is compared with: order must not matter
	add(direct, 70_000, 0.6, 1.5, 0)
	add(healthy, 20_000, 2, 5, 0)
	add(floor, 12_500, 3, 6, 0)
	add(second, 21_000, 2, 5, 0)
	add(lonely, 999, 0.5, 0.7, 0)
	more(r, add)
	r.Lines[3].Others, r.Lines[3].Stall = 0.35, 838
	r.Lines[5].Others, r.Lines[5].Stall = noisyOthers, noisyStall
	r.Compare()
	return r
}

// more adds what there is besides: peers, refusals, an open loop, idle clients, all fleets.
func more(r *Report, add func(row rows.Row, rate, p50, p99 float64, errors uint64)) {
	r.Peers = []Peer{
		{Target: "redsync-redigo", Label: "redsync, redigo pools", Version: "v4.18"},
		{Target: "redsync-goredis", Version: "v4.18"},
		{Target: "twemproxy", Missing: "not installed: apt-get install nutcracker"},
	}
	fifty := rows.Row{Target: rows.Redlockd, Nodes: 5, Work: load.Take, Clients: 50, Pipeline: 1, Generator: rows.Own}
	add(as(fifty, rows.RedsyncRedigo), 5_000, 9, 20, 0)
	add(as(fifty, rows.RedsyncGoRedis), 4_000, 10, 30, 0)
	for _, n := range []int{1, 7} {
		row := fifty
		row.Nodes = n
		add(row, 30_000-float64(n)*2000, 1, 3, 0)
		r.Lines[len(r.Lines)-1].CPU = CPU{7, 10 + float64(n), 5 * float64(n)}
	}
	piped := fifty
	piped.Pipeline = 16
	floor, _ := piped.FloorRow()
	add(piped, 0, 0, 0, 0) // that is measured, and nothing
	add(floor, 60_000, 12, 20, 0)
	refused, contended, idle := fifty, fifty, fifty
	refused.Work, contended.Work, idle.Work, idle.Clients = load.Refused, load.Contended, load.Idle, 10_000
	add(refused, 24_000, 1.9, 4, 0)
	add(contended, 22_000, 2, 5, 0)
	r.Lines[len(r.Lines)-1].Granted, r.Lines[len(r.Lines)-1].Refused = 2_000, 40_000
	add(idle, 0, 0, 0, 0)
	l := &r.Lines[len(r.Lines)-1]
	l.Clients, l.ClientKiB, l.Remark = 9_900, 21.5, "the limit of open files allows no more"
	for _, late := range []float64{0.004, 0.25} {
		open := fifty
		open.Open, open.Fault = 50, rows.Slow
		if late < behindLate {
			open.Fault = rows.Healthy
		}
		add(open, 10_000, 0.4, 1.1, 0)
		l := &r.Lines[len(r.Lines)-1]
		l.Wanted, l.P999, l.Max, l.Late, l.Never = 10_001, 3.3, 8.8, late, uint64(late*4096)&^255
	}
}

func TestRatios(t *testing.T) {
	lines := sample().Lines
	for i, want := range []Ratios{
		{OfDirect: 19_000.0 / 70_000, P50OfDirect: ratio(2.2, 0.6), OfHealthy: 0.95, P99OfHealthy: 1.1},
		{},
		{OfDirect: 20_000.0 / 70_000, P50OfDirect: ratio(2, 0.6), OfFloor: 1.6},
		{OfDirect: 12_500.0 / 70_000, P50OfDirect: 5},
		{OfFloor: 1.68}, // there is no direct row of redis-benchmark in this run
		{},              // nothing of its kind was measured
		{OfDirect: 5.0 / 70, P50OfDirect: 15, Redlockd: 4},
	} {
		if lines[i].Ratios != want {
			t.Errorf("%s: got %+v, want %+v", lines[i].Name, lines[i].Ratios, want)
		}
	}
}

func TestTableGolden(t *testing.T) {
	r := sample()
	r.Interrupted = true
	var b bytes.Buffer
	if err := r.Table(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "table.txt")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the table differs from %s (rewrite it with -update):\n%s", golden, b.String())
	}
}

func TestJSON(t *testing.T) {
	r := sample()
	var b bytes.Buffer
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine struct{ Cores int }
		Rows    []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first := got.Rows[0]
	if got.Machine.Cores != 2 || len(got.Rows) != 17 || first["name"] != "redlockd-5/take/c50/p1/stopped" ||
		first["of_healthy"] != 0.95 || first["errors"] != 3.0 || first["fault"] != "stopped" {
		t.Fatalf("got %s", b.String())
	}
	if r.Errors() != 3 {
		t.Fatal("errors are not added up")
	}
}

func TestThousands(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999.4: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}
