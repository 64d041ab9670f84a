// Package measure is the engine of bench: it reads the command line, starts the servers of each row, drives the load,
// reads what it cost, and hands everything to bench/report. Command is all of it; Peer is how a module of its own adds
// what redlockd is measured beside.
package measure

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
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

// Command is a program that measures.
type Command struct {
	Name  string // how it is started: "go run ./bench"
	Flags func(*flag.FlagSet)

	// Peers is asked once the flags are read, and before anything is started; nil: there are none. An error is about the flags.
	Peers func() ([]Peer, error)
}

// Main is a whole program: until the end, a failure, or Ctrl-C. It returns what to exit with.
func (c Command) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second Ctrl-C ends us at once, and Pdeathsig ends the servers.
	context.AfterFunc(ctx, stop)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write to "| head" fails; it does not end us before we have cleaned up
	return c.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// Run is Main, with its edges passed in.
func (c Command) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(c.Name, args, stderr, c.Flags)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var peers []Peer
	if err == nil && c.Peers != nil {
		peers, err = c.Peers()
	}
	var list []rows.Row
	if err == nil {
		if list = o.choose(peers); len(list) == 0 {
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
	rep := &report.Report{Command: commandLine(c.Name, args), Started: time.Now(), Seconds: o.length.Seconds(), Peers: describe(peers)}
	err = measureAll(ctx, o, peers, list, rep, stderr)
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
	if o.plots != "" {
		if err := writePlots(o.plots, rep); err != nil {
			fmt.Fprintln(stderr, "bench: --plots:", err)
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

// writePlots makes the directory if need be. Of a run that was cut short there are no pictures: they would lack lines.
func writePlots(dir string, rep *report.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil || rep.Interrupted {
		return err
	}
	var errs []error
	for _, p := range rep.Plots() {
		errs = append(errs, os.WriteFile(filepath.Join(dir, p.Name), p.SVG, 0o644))
	}
	return errors.Join(errs...)
}
