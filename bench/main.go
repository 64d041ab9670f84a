// Command bench measures redlockd in one run on one machine, beside what it stands in front of: one Redis directly, and
// the floor of any client-side fan-out. It starts every server itself and cleans up after itself.
//
//	go run ./bench                          everything, about two minutes
//	go run ./bench --rows 'take/c50'        some rows, and those they are compared with
//	go run ./bench --quick                  a smoke test; its figures mean nothing
//	go run ./bench sim --for 10m            no measurement: the simulator, over many seeds
//
// bench knows only the wire: it imports nothing of redlockd but its own subpackages, and the simulator, to start it.
//
//	rows     what is measured, and what is compared with what
//	load     clients in a closed loop, and the histogram
//	servers  starts and stops redis-server and redlockd
//	report   table and JSON
//	resp     the little of the protocol that these need
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"redlockd/bench/report"
	"redlockd/bench/rows"
)

// Exit codes.
const (
	exitOK          = 0
	exitErrors      = 1 // a row could not be measured, or an answer was not as it must be
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports SIGINT
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(simulate(os.Args[2:], os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second Ctrl-C ends us at once, and Pdeathsig ends the servers.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	rows           *regexp.Regexp
	length         time.Duration // per row
	warmup         time.Duration
	jsonFile       string
	list           bool
	redisBenchmark bool
	redlockd       string   // binary; empty: build it
	redlockdFlags  []string // for every redlockd
}

const (
	defaultSeconds = 2.5 // makes about two minutes of all rows
	minSeconds     = 0.05
	maxSeconds     = 20 // locks live 30 s: none may end by itself within a row
	quickSeconds   = 0.2
	warmupSeconds  = 0.5 // the proxy's heap and pipes, the node's first rehashes
	quickWarmup    = 0.1
)

func parse(args []string, out io.Writer) (options, error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(out)
	var o options
	name := fs.String("rows", "", "measure only rows whose name matches this `regexp`, and those they are compared with (see --list)")
	seconds := fs.Float64("seconds", defaultSeconds, "measured `seconds` per row; longer is steadier")
	quick := fs.Bool("quick", false, "very short rows, to see that everything works; the figures mean nothing")
	fs.StringVar(&o.jsonFile, "json", "", "also write everything to this `file`")
	fs.BoolVar(&o.list, "list", false, "print the names of the rows and exit")
	fs.BoolVar(&o.redisBenchmark, "redis-benchmark", false, "also let redis-benchmark make the load, as a second opinion on our generator")
	fs.StringVar(&o.redlockd, "redlockd", "", "measure this `binary` instead of building one")
	flags := fs.String("redlockd-flags", "", "more `flags` for redlockd, separated by spaces")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; all there is are flags, see --help", fs.Arg(0))
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if *quick && set["seconds"] {
		return o, errors.New("--quick and --seconds exclude each other")
	}
	if !(*seconds >= minSeconds && *seconds <= maxSeconds) { // written so that NaN is refused
		return o, fmt.Errorf("--seconds is %g; it must lie between %g and %g: the locks taken live 30 s and none may end by itself",
			*seconds, minSeconds, float64(maxSeconds))
	}
	o.length, o.warmup = duration(*seconds), duration(min(warmupSeconds, *seconds))
	if *quick {
		o.length, o.warmup = duration(quickSeconds), duration(quickWarmup)
	}
	var err error
	if o.rows, err = regexp.Compile(*name); err != nil {
		return o, fmt.Errorf("--rows: %w", err)
	}
	o.redlockdFlags = strings.Fields(*flags)
	return o, nil
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// run is main, with its edges passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var list []rows.Row
	if err == nil {
		if list = rows.Select(rows.All(o.redisBenchmark), o.rows); len(list) == 0 {
			err = fmt.Errorf("--rows %q matches no row; see --list", o.rows)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitUsage
	}
	if o.list {
		for _, r := range list {
			fmt.Fprintln(stdout, r.Name())
		}
		return exitOK
	}
	rep := &report.Report{Command: command(args), Started: time.Now(), Seconds: o.length.Seconds()}
	err = measureAll(ctx, o, list, rep, stderr)
	return finish(ctx, o, rep, err, stdout, stderr)
}

// finish prints what was measured, all of it or not, and says with which code to exit.
func finish(ctx context.Context, o options, rep *report.Report, err error, stdout, stderr io.Writer) int {
	interrupted := ctx.Err() != nil
	rep.Interrupted = interrupted || err != nil
	rep.Compare()
	if len(rep.Lines) > 0 {
		if err := rep.Table(stdout); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return exitErrors
		}
	}
	if o.jsonFile != "" {
		if err := writeJSON(o.jsonFile, rep); err != nil {
			fmt.Fprintln(stderr, "bench: --json:", err)
			return exitErrors
		}
	}
	switch {
	case interrupted:
		fmt.Fprintln(stderr, "bench: interrupted; all servers are stopped")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return exitErrors
	case rep.Errors() > 0:
		return exitErrors
	}
	return exitOK
}

func writeJSON(path string, rep *report.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(rep.JSON(f), f.Close())
}

// command is how this run can be had again.
func command(args []string) string {
	parts := []string{os.Args[0]}
	if strings.Contains(os.Args[0], "go-build") {
		parts = []string{"go", "run", "./bench"}
	}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\"'`$\\|&;()<>*?[]{}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		parts = append(parts, a)
	}
	return strings.Join(parts, " ")
}

// progress is one line per row on stderr: what is being measured, then what came out.
type progress struct {
	w       io.Writer
	total   int
	started time.Time
}

func (p progress) begin(i int, r rows.Row) {
	fmt.Fprintf(p.w, "[%*d/%d] %-42s ", len(strconv.Itoa(p.total)), i+1, p.total, r.Name())
}

func (p progress) end(i int, l report.Line) {
	left := time.Since(p.started) / time.Duration(i+1) * time.Duration(p.total-i-1)
	fmt.Fprintf(p.w, "%11s/s  p99 %8.3f ms  errors %d   (%d s left)\n", report.Thousands(l.PerSecond), l.P99, l.Errors, int(left.Seconds()))
}
