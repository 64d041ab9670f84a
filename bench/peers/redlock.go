package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/servers"
)

// redlockReport is one line of redlock/load.mjs, which says what they mean.
type redlockReport struct {
	Ops     uint64
	Granted uint64
	Errors  uint64
	Error   string
	NS      []int64

	Done bool
	Hung uint64
	Last []struct {
		Key, Token string
		Got        uint64
	}
}

// maxReport bounds a line: the latencies of a tenth of a second, or the last locks of all clients.
const maxReport = 4 << 20

// startRedlock starts the program in redlock/ over these nodes. It has carried out nothing yet.
func startRedlock(dir string, nodes []string) (*servers.Program, error) {
	args := func(port int) []string { return append([]string{"load.mjs", strconv.Itoa(port)}, nodes...) }
	return servers.StartProgram(filepath.Join(dir, "redlock"), "node", args, func(addr string) error {
		conn, err := net.DialTimeout("tcp", addr, answerLimit)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// redlockLoad lets the program at addr carry out the plan, and tells the samples which locks it believes in.
func redlockLoad(ctx context.Context, addr string, plan load.Plan, work load.Work, s *samples) (result load.Result, err error) {
	conn, err := net.DialTimeout("tcp", addr, answerLimit)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// The program ends its plan by itself, also with loops that hang.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(plan.Warmup + plan.Measure + 2*load.Grace)); err != nil {
		return result, err
	}
	if err := json.NewEncoder(conn).Encode(map[string]any{
		"clients": plan.Clients, "work": work, "expiry": expiry.Milliseconds(),
		"warmup": plan.Warmup.Milliseconds(), "measure": plan.Measure.Milliseconds(),
	}); err != nil {
		return result, err
	}
	hooks := make(chan error, 1)
	base := time.Now()
	go func() { hooks <- plan.Hooks(ctx, base) }()
	result = load.Result{Measured: plan.Measure, Latency: new(load.Histogram)}
	err = redlockReports(conn, &result, work, s)
	return result, errors.Join(err, <-hooks)
}

// redlockReports adds up the reports until the program is done.
func redlockReports(from io.Reader, result *load.Result, work load.Work, s *samples) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxReport)
	for lines.Scan() {
		var r redlockReport
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("a report of redlock: %w", err)
		}
		result.Ops += r.Ops
		result.Granted += r.Granted
		result.Errors += r.Errors + r.Hung
		if result.FirstError == "" {
			result.FirstError = r.Error
		}
		for _, ns := range r.NS {
			result.Latency.Record(time.Duration(ns))
		}
		if !r.Done {
			continue
		}
		if r.Hung > 0 && result.FirstError == "" {
			result.FirstError = fmt.Sprintf("%d loops hung", r.Hung)
		}
		released := work == load.Cycle || work == load.Contended
		for _, l := range r.Last {
			*s.client() = sample{got: l.Got, last: held{key: l.Key, token: l.Token, released: released}}
		}
		return nil
	}
	return errors.Join(errors.New("redlock ended before it was done"), lines.Err())
}
