package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// bench is a run of all rows: one directory for everything, removed at the end.
type bench struct {
	options
	peers     []Peer
	dir       string
	binary    string
	unwatched string               // the binary built without the watch
	rates     map[rows.Row]float64 // what came out so far
	stderr    io.Writer
}

// measureAll measures the rows into rep. When it returns, with or without an error, no server is left.
func measureAll(ctx context.Context, o options, peers []Peer, list []rows.Row, rep *report.Report, stderr io.Writer) (err error) {
	// Before minutes of work, not after.
	if o.jsonFile != "" {
		if err := writeJSON(o.jsonFile, rep); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	if o.plots != "" {
		if err := writePlots(o.plots, rep); err != nil {
			return fmt.Errorf("--plots: %w", err)
		}
	}
	b := &bench{options: o, peers: peers, rates: map[rows.Row]float64{}, binary: o.redlockd, stderr: stderr}
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
		b.rates[row] = line.PerSecond
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

// peer is the one whose row this is; nil: it is none of theirs.
func (b *bench) peer(row rows.Row) *Peer {
	for i := range b.peers {
		if b.peers[i].Target == row.Target {
			return &b.peers[i]
		}
	}
	return nil
}

// measure carries out one row on servers of its own. An error means that there is no figure; wrong answers are figures.
func (b *bench) measure(ctx context.Context, row rows.Row) (line report.Line, err error) {
	s, err := b.setUp(ctx, row)
	if err != nil {
		return line, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	stalled := watchStalls()
	switch {
	case row.Generator == rows.RedisBenchmark:
		line, err = b.withRedisBenchmark(ctx, row, s)
	case row.Work == load.Idle:
		line, err = b.withIdleClients(ctx, s)
	default:
		line, err = b.withOwnLoad(ctx, row, s)
	}
	line.Stall = ms(stalled())
	if line.Errors > 0 && s.proxy != nil && ctx.Err() == nil {
		fmt.Fprintf(b.stderr, "\n%d errors, for example: %s\nredlockd's log:\n%s\n", line.Errors, line.FirstError, s.proxy.Log())
	}
	return line, err
}

func (b *bench) withOwnLoad(ctx context.Context, row rows.Row, s *Stage) (report.Line, error) {
	var from, to usage
	rate, err := b.openRate(row)
	if err != nil {
		return report.Line{}, err
	}
	plan := load.Plan{
		Clients: row.Clients, Rate: rate / float64(row.Pipeline), Warmup: b.warmup, Measure: b.length,
		AtStart: func() error { err := s.breakIt(); from = s.usage(); return err }, // also of a node that is new now
		AtEnd:   func() error { to = s.usage(); return nil },
	}
	result, err := b.drive(ctx, s, plan)
	line := report.NewLine(row)
	line.Wanted, line.Late, line.Never = rate, result.Late, result.Never
	line.Seconds, line.Ops, line.PerSecond = result.Measured.Seconds(), result.Ops, result.PerSecond()
	if row.Work == load.Contended {
		line.Granted, line.Refused = result.Granted, result.Ops-result.Granted
	}
	line.Errors, line.FirstError = result.Errors, result.FirstError
	line.CPU, line.Others = perOp(from, to, result.Ops), others(from, to)
	if err == nil {
		h := result.Latency
		line.P50, line.P99, line.P999 = ms(h.Quantile(0.5)), ms(h.Quantile(0.99)), ms(h.Quantile(0.999))
		line.Max = ms(h.Max())
	}
	return line, err
}

// openRate is the fixed rate of an open loop, in operations per second; 0 for a closed loop.
func (b *bench) openRate(row rows.Row) (float64, error) {
	closed, open := row.ClosedRow()
	if !open {
		return 0, nil
	}
	if b.rates[closed] <= 0 {
		return 0, fmt.Errorf("%s has no rate to take %d %% of", closed.Name(), row.Open)
	}
	return b.rates[closed] * float64(row.Open) / 100, nil
}

// drive carries out the plan with the clients of the row's target, and lets a peer check what it counted.
func (b *bench) drive(ctx context.Context, s *Stage, plan load.Plan) (result load.Result, err error) {
	wire := load.Wire{Addr: s.running.Addr, Work: s.Row.Work, Pipeline: s.Row.Pipeline, Keys: "lock"}
	plan.Dial = wire.Dial
	peer := b.peer(s.Row)
	if peer != nil && peer.Dial != nil {
		plan.Dial = func(client int) (load.Worker, error) { return peer.Dial(s, client) }
	}
	if peer != nil && peer.Load != nil {
		result, err = peer.Load(ctx, s, plan)
	} else {
		result, err = load.Run(ctx, plan)
	}
	if err != nil || peer == nil || peer.Check == nil {
		return result, err
	}
	if wrong := peer.Check(ctx, s); wrong != nil {
		result.Errors++
		result.FirstError = wrong.Error()
	}
	return result, nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }
