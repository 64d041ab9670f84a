package measure

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/resp"
	"redlockd/bench/rows"
)

const (
	// keyspace: random keys of so many that almost every take is granted; among 10^6 keys about 500 come twice.
	keyspace = "1000000000"
	// enough of the takes must have left a key behind. The rest is for keys that came twice.
	enough = 0.99
	// atLeast is the smallest run that is measured, per client and place in the pipeline.
	atLeast = 50
)

// shot is what one redis-benchmark says of itself.
type shot struct {
	rate          float64
	p50, p99, max float64 // ms
	cpu           time.Duration
}

// withRedisBenchmark measures a row with redis-benchmark: one on the proxy or the single server, or for the floor one per
// node, all at once. A client that fans out by itself is done when the last node has answered, so the floor is the
// slowest of them.
//
// redis-benchmark wants a number of requests, not a time: a first, short run finds out how many fit. It takes other
// keys: the seed of redis-benchmark is time XOR pid, so that two runs after each other may well draw the same numbers.
func (b *bench) withRedisBenchmark(ctx context.Context, row rows.Row, s *Stage) (report.Line, error) {
	line := report.NewLine(row)
	if row.Work != load.Take {
		return line, fmt.Errorf("redis-benchmark cannot do the work %q", row.Work)
	}
	targets := []string{s.running.Addr}
	if row.Target == rows.Floor {
		targets = nil
		for _, n := range s.Nodes {
			targets = append(targets, n.Addr)
		}
	}
	n := row.Clients * row.Pipeline * atLeast
	probe, err := sideBySide(ctx, row, targets, "probe", n)
	if err != nil {
		return line, err
	}
	n = max(n, int(slowest(probe).rate*b.length.Seconds()))
	before, err := s.granted()
	if err != nil {
		return line, err
	}
	from := s.usage()
	shots, err := sideBySide(ctx, row, targets, "lock", n)
	if err != nil {
		return line, err
	}
	to := s.usage()
	after, err := s.granted()
	if err != nil {
		return line, err
	}
	slow := slowest(shots)
	line.Ops, line.PerSecond = uint64(n), slow.rate
	line.Seconds = float64(n) / slow.rate
	for _, sh := range shots {
		to.generator += sh.cpu
		line.P50, line.P99, line.Max = max(line.P50, sh.p50), max(line.P99, sh.p99), max(line.Max, sh.max)
	}
	line.CPU, line.Others = perOp(from, to, line.Ops), others(from, to)
	if stand := after - before; float64(stand) < enough*float64(n) {
		line.Errors = uint64(n - stand)
		line.FirstError = fmt.Sprintf("only %d keys of %d takes stand", stand, n)
	}
	return line, nil
}

func slowest(shots []shot) shot {
	return slices.MinFunc(shots, func(a, b shot) int {
		switch {
		case a.rate < b.rate:
			return -1
		case a.rate > b.rate:
			return 1
		}
		return 0
	})
}

// granted counts the keys that stand on a majority of the nodes, judging by their numbers of keys.
func (s *Stage) granted() (int, error) {
	var sizes []int
	for _, n := range s.Nodes {
		reply, err := resp.Do(n.Addr, 10*time.Second, "DBSIZE")
		if err != nil {
			return 0, err
		}
		size, err := strconv.Atoi(reply.Text)
		if err != nil {
			return 0, fmt.Errorf("DBSIZE was answered %s", reply)
		}
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	if s.proxy == nil {
		return sizes[0], nil // every single one must have done its part
	}
	return sizes[len(sizes)-(len(sizes)/2+1)], nil
}

// sideBySide runs one redis-benchmark per target, all at once.
func sideBySide(ctx context.Context, row rows.Row, targets []string, key string, n int) ([]shot, error) {
	shots := make([]shot, len(targets))
	errs := make([]error, len(targets))
	var wg sync.WaitGroup
	for i, addr := range targets {
		wg.Go(func() { shots[i], errs[i] = redisBenchmark(ctx, row, addr, key, n) })
	}
	wg.Wait()
	return shots, errors.Join(errs...)
}

func redisBenchmark(ctx context.Context, row rows.Row, addr, key string, n int) (shot, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return shot{}, err
	}
	cmd := exec.CommandContext(ctx, "redis-benchmark", "-h", host, "-p", port, "-n", strconv.Itoa(n), "-r", keyspace,
		"-c", strconv.Itoa(row.Clients), "-P", strconv.Itoa(row.Pipeline), "--csv",
		"SET", key+":__rand_int__", "token", "NX", "PX", load.TTL)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return shot{}, fmt.Errorf("redis-benchmark of %s: %w\n%s%s", addr, err, out.String(), complaint.String())
	}
	s, err := parseShot(out.String())
	if err != nil {
		return s, fmt.Errorf("redis-benchmark of %s: %w", addr, err)
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return s, nil
}

// parseShot reads the CSV of redis-benchmark: a line of names and a line of values, found by name, with whatever it prints
// around them (a warning where CONFIG is refused).
func parseShot(out string) (shot, error) {
	var names, values []string
	for line := range strings.Lines(out) {
		fields, err := csv.NewReader(strings.NewReader(line)).Read()
		switch {
		case err != nil:
		case len(fields) > 1 && fields[0] == "test":
			names = fields
		case len(fields) > 1 && len(fields) == len(names):
			values = fields
		}
	}
	var s shot
	for name, field := range map[string]*float64{
		"rps": &s.rate, "p50_latency_ms": &s.p50, "p99_latency_ms": &s.p99, "max_latency_ms": &s.max,
	} {
		i := slices.Index(names, name)
		if i < 0 || values == nil {
			return s, fmt.Errorf("no %s in %q", name, out)
		}
		v, err := strconv.ParseFloat(values[i], 64)
		if err != nil {
			return s, fmt.Errorf("%s is not a number in %q", name, out)
		}
		*field = v
	}
	if s.rate <= 0 {
		return s, fmt.Errorf("a rate of %g in %q", s.rate, out)
	}
	return s, nil
}
