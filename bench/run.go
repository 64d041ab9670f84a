package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/resp"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// grantLimit is how long a fresh fleet may take until it grants locks: redlockd connects in the background.
const grantLimit = 30 * time.Second

// bench is a run of all rows: one directory for everything, removed at the end.
type bench struct {
	options
	dir       string
	binary    string
	unwatched string // the binary built without the watch
	stderr    io.Writer
}

// measureAll measures the rows into rep. When it returns, with or without an error, no server is left.
func measureAll(ctx context.Context, o options, list []rows.Row, rep *report.Report, stderr io.Writer) (err error) {
	if o.jsonFile != "" { // before two minutes of work, not after
		if err := writeJSON(o.jsonFile, rep); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	b := &bench{options: o, binary: o.redlockd, stderr: stderr}
	if b.dir, err = os.MkdirTemp("", "redlockd-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.prepare(list); err != nil {
		return err
	}
	rep.Machine = machine(b.binary)
	fmt.Fprintln(stderr, rep.Machine)
	p := progress{w: stderr, total: len(list), started: time.Now()}
	for i, row := range list {
		p.begin(i, row)
		line, err := b.measure(ctx, row)
		if err != nil {
			fmt.Fprintln(stderr)
			return fmt.Errorf("%s: %w", row.Name(), err)
		}
		rep.Add(line)
		p.end(i, line)
	}
	return nil
}

// prepare checks for the programs that the rows need, and builds redlockd if any row needs it.
func (b *bench) prepare(list []rows.Row) error {
	needs := map[string]bool{"redis-server": true}
	proxy := false
	for _, r := range list {
		needs["redis-benchmark"] = needs["redis-benchmark"] || r.Generator == rows.RedisBenchmark
		proxy = proxy || r.Target == rows.Redlockd
	}
	for program, need := range needs {
		if _, err := exec.LookPath(program); need && err != nil {
			return fmt.Errorf("%s is needed (Debian: apt-get install redis-server redis-tools): %w", program, err)
		}
	}
	var err error
	if slices.ContainsFunc(list, func(r rows.Row) bool { return r.Fault == rows.Unwatched }) {
		aside := filepath.Join(b.dir, "unwatched")
		if err := os.Mkdir(aside, 0o700); err != nil {
			return err
		}
		if b.unwatched, err = servers.BuildRedlockd(aside, "-tags", "unwatched"); err != nil {
			return err
		}
	}
	if !proxy || b.binary != "" {
		return nil
	}
	b.binary, err = servers.BuildRedlockd(b.dir)
	return err
}

// stage is the servers of one row. Every row has fresh ones: no keys, expiries or debts of the row before, and no flush
// under a running redlockd, to which it is a node that forgets.
type stage struct {
	nodes []*servers.Redis
	proxy *servers.Proxy
	addr  string // whom the clients talk to
}

func (b *bench) setUp(ctx context.Context, row rows.Row) (s *stage, err error) {
	s = new(stage)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.nodes, err = servers.StartFleet(b.dir, row.Nodes); err != nil {
		return s, err
	}
	s.addr = s.nodes[0].Addr
	if row.Target != rows.Redlockd {
		return s, nil
	}
	binary := b.binary
	if row.Fault == rows.Unwatched {
		binary = b.unwatched
	}
	args := append([]string{"--nodes", servers.Nodes(s.nodes)}, b.redlockdFlags...)
	if s.proxy, err = servers.StartRedlockd(binary, args...); err != nil {
		return s, err
	}
	s.addr = s.proxy.Addr
	if err := s.awaitGrant(ctx); err != nil {
		return s, fmt.Errorf("%w\nits log:\n%s", err, s.proxy.Log())
	}
	if row.Fault == rows.Taught { // now: a fleet that is new and not empty would share all of it first
		return s, s.fill()
	}
	return s, nil
}

// fill every node with a million locks that nobody releases, a piece at a time: a node that runs a script does nothing else.
func (s *stage) fill() error {
	const locks, piece = 1_000_000, 20_000
	script := "for i = ARGV[1], ARGV[1] + " + strconv.Itoa(piece-1) + " do redis.call('SET', 'old:' .. i, 'bench', 'PX', 3600000) end"
	for at := 0; at < locks; at += piece {
		for _, n := range s.nodes {
			reply, err := resp.Do(n.Addr, 10*time.Second, "EVAL", script, "0", strconv.Itoa(at))
			if err != nil {
				return err
			}
			if reply.Kind == resp.Error {
				return fmt.Errorf("filling a node: %s", reply)
			}
		}
	}
	return nil
}

// awaitGrant waits until redlockd has its nodes and grants a lock.
func (s *stage) awaitGrant(ctx context.Context) error {
	deadline := time.Now().Add(grantLimit)
	for i := 0; ; i++ {
		reply, err := resp.Do(s.addr, time.Second, "SET", "probe:"+strconv.Itoa(i), "bench", "NX", "PX", "1000")
		if err == nil && reply.Text == "OK" {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redlockd grants no lock within %v of its start: %s, %w", grantLimit, reply, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *stage) close() error {
	var errs []error
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	for _, n := range s.nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// measure carries out one row on servers of its own. An error means that there is no figure; wrong answers are figures.
func (b *bench) measure(ctx context.Context, row rows.Row) (line report.Line, err error) {
	s, err := b.setUp(ctx, row)
	if err != nil {
		return line, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	stalled := watchStalls()
	if row.Generator == rows.RedisBenchmark {
		line, err = b.withRedisBenchmark(ctx, row, s)
	} else {
		line, err = b.withOwnLoad(ctx, row, s)
	}
	line.Stall = ms(stalled())
	if line.Errors > 0 && s.proxy != nil && ctx.Err() == nil {
		fmt.Fprintf(b.stderr, "\n%d errors, for example: %s\nredlockd's log:\n%s\n", line.Errors, line.FirstError, s.proxy.Log())
	}
	return line, err
}

func (b *bench) withOwnLoad(ctx context.Context, row rows.Row, s *stage) (report.Line, error) {
	var from, to usage
	wire := load.Wire{Addr: s.addr, Work: row.Work, Pipeline: row.Pipeline, Keys: "lock"}
	result, err := load.Run(ctx, load.Plan{
		Clients: row.Clients, Warmup: b.warmup, Measure: b.length, Dial: wire.Dial,
		AtStart: func() error { err := s.breakIt(row.Fault); from = s.usage(); return err }, // also of a node that is new now
		AtEnd:   func() error { to = s.usage(); return nil },
	})
	line := report.NewLine(row)
	line.Seconds, line.Ops, line.PerSecond = result.Measured.Seconds(), result.Ops, result.PerSecond()
	line.Errors, line.FirstError = result.Errors, result.FirstError
	line.CPU, line.Others = perOp(from, to, result.Ops), others(from, to)
	if err == nil {
		h := result.Latency
		line.P50, line.P99, line.P999 = ms(h.Quantile(0.5)), ms(h.Quantile(0.99)), ms(h.Quantile(0.999))
		line.Max = ms(h.Max())
	}
	return line, err
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// breakIt does to the stage what the row's fault says. Nothing mends it: the servers end with the row.
func (s *stage) breakIt(fault rows.Fault) error {
	switch fault {
	case rows.Healthy, rows.Unwatched:
		return nil
	case rows.Stopped:
		return s.nodes[len(s.nodes)-1].Pause()
	case rows.Taught:
		return s.nodes[len(s.nodes)-1].Restart()
	}
	return fmt.Errorf("unknown fault %q", fault)
}
