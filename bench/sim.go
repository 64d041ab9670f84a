package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"redlockd/quorum/quorumtest/sim"
)

// Exit codes, as bench has them.
const (
	exitOK     = 0
	exitErrors = 1 // something happened that must never happen
	exitUsage  = 2
)

// simulate runs the simulator (quorum/quorumtest/sim) over many seeds, on all processors, and reports what it saw: go run ./bench sim
// --for 10m. It is no measurement; it is here so that all that runs for long is started in one way.
func simulate(args []string, out, diag io.Writer) int {
	fs := flag.NewFlagSet("bench sim", flag.ContinueOnError)
	fs.SetOutput(diag)
	length := fs.Duration("for", time.Minute, "how `long`")
	first := fs.Uint64("first", 1, "the first `seed`; the others follow")
	workers := fs.Int("workers", runtime.GOMAXPROCS(0), "how many worlds at a time")
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err == nil && fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case err == nil && (*workers < 1 || *length <= 0):
		err = errors.New("--workers and --for must be above zero")
	}
	if err != nil {
		fmt.Fprintln(diag, "bench sim:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	t := &tally{out: out, began: time.Now(), next: *first, counts: map[string]int{}}
	var wait sync.WaitGroup
	for range *workers {
		wait.Go(func() {
			for ctx.Err() == nil {
				t.add(sim.Run(t.seed(), sim.Options{}))
			}
		})
	}
	wait.Wait()
	t.report()
	if len(t.violations) > 0 {
		return exitErrors
	}
	return exitOK
}

// tally of all seeds.
type tally struct {
	out   io.Writer
	began time.Time

	mu                                sync.Mutex
	next                              uint64
	seeds, operations, grants, events int
	simulated                         time.Duration
	counts                            map[string]int
	violations                        []string
}

func (t *tally) seed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return t.next - 1
}

func (t *tally) add(r sim.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeds++
	t.operations += r.Operations
	t.grants += r.Grants
	t.events += r.Events
	t.simulated += r.Simulated
	for kind, n := range r.Faults {
		t.counts[kind] += n
	}
	for _, v := range r.Violations {
		line := fmt.Sprintf("seed %d: %v\n    go test ./quorum/... -run Sim -seed %d", r.Seed, v, r.Seed)
		t.violations = append(t.violations, line)
		fmt.Fprintln(t.out, line)
	}
}

func (t *tally) report() {
	took := time.Since(t.began)
	for _, row := range []struct {
		name  string
		value any
	}{
		{"seeds", t.seeds},
		{"operations of clients", t.operations},
		{"locks held", t.grants},
		{"simulated time", t.simulated.Round(time.Second)},
		{"events", t.events},
		{"real time", took.Round(time.Second / 10)},
		{"events per second", int(float64(t.events) / took.Seconds())},
		{"simulated per real second", time.Duration(float64(t.simulated) / took.Seconds()).Round(time.Second / 10)},
	} {
		fmt.Fprintf(t.out, "%-34s %14v\n", row.name, row.value)
	}
	fmt.Fprintln(t.out, "\nwhat happened")
	for _, kind := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(t.out, "  %-32s %14d\n", kind, t.counts[kind])
	}
	fmt.Fprintf(t.out, "\n%-34s %14d\n", "violations", len(t.violations))
}
