// Command clients proves that real lock libraries work, unmodified, through redlockd: it starts five redis-server and a
// redlockd over them, and lets every language directory beside this file run its libraries against it.
//
//	go run ./bench/clients                     everything whose toolchain is here
//	go run ./bench/clients --only go,python    some languages, by directory
//	go run ./bench/clients --readme            and write the table into README.md
//
// A language is a directory with two programs:
//
//	install   gets the libraries, at pinned versions, into .env beside it; quick when they are there.
//	          Exit code 3: the toolchain is missing, and stderr says which.
//	run       works on $REDLOCKD_HOST:$REDLOCKD_PORT, and prints a line of JSON (row) per library and version.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"redlockd/bench/servers"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a library failed, or a language could not be run
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports SIGINT
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second Ctrl-C ends us at once, and Pdeathsig ends the children.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	languages  []string // directories, sorted
	readme     bool
	requireAll bool
	keep       bool
	target     string // somebody else's server; empty: start one
}

func parse(args []string, dir string, out io.Writer) (options, error) {
	fs := flag.NewFlagSet("clients", flag.ContinueOnError)
	fs.SetOutput(out)
	var o options
	only := fs.String("only", "", "run only these `languages`, by directory, separated by commas")
	fs.BoolVar(&o.readme, "readme", false, "write the table into README.md; only from a run of all languages")
	fs.BoolVar(&o.requireAll, "require-all", false, "a language whose toolchain is missing is a failure, and is not skipped")
	fs.BoolVar(&o.keep, "keep", false, "leave the servers up when the suites are through, until Ctrl-C")
	fs.StringVar(&o.target, "target", "", "run against the server at this `address`, and start none")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; all there is are flags, see --help", fs.Arg(0))
	}
	if o.readme && (*only != "" || o.target != "") {
		return o, errors.New("--readme wants a run of all languages against redlockd: it excludes --only and --target")
	}
	if o.keep && o.target != "" {
		return o, errors.New("--keep and --target exclude each other: there is nothing to keep")
	}
	all, err := languages(dir)
	if err != nil || *only == "" {
		o.languages = all
		return o, err
	}
	for name := range strings.SplitSeq(*only, ",") {
		if !slices.Contains(all, name) {
			return o, fmt.Errorf("--only %s: there are %s", name, strings.Join(all, ", "))
		}
		o.languages = append(o.languages, name)
	}
	slices.Sort(o.languages)
	o.languages = slices.Compact(o.languages)
	return o, nil
}

// languages are the directories with a program named run.
func languages(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*", "run"))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = filepath.Base(filepath.Dir(f))
	}
	return names, nil
}

// run is main, with its edges passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root, err := servers.ModuleRoot()
	if err != nil {
		fmt.Fprintln(stderr, "clients:", err)
		return exitFailed
	}
	dir := filepath.Join(root, "bench", "clients")
	o, err := parse(args, dir, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintln(stderr, "clients:", err)
		return exitUsage
	}
	started := time.Now()
	results, err := runAll(ctx, o, dir, stdout)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "clients: interrupted; all servers are stopped")
		return exitInterrupted
	}
	summary := summarise(results, o.requireAll)
	fmt.Fprintf(stdout, "\n%s\nin %d s\n%s\n", console(results), int(time.Since(started).Seconds()), summary)
	if err == nil && o.readme {
		err = writeReadme(filepath.Join(root, "README.md"), results)
	}
	if err != nil {
		fmt.Fprintln(stderr, "clients:", err)
	}
	if err != nil || summary.failed > 0 {
		return exitFailed
	}
	return exitOK
}

// runAll runs the languages, over servers of its own or at the target. Its error is one of ours or of the servers; what failed of
// the libraries is in the results.
func runAll(ctx context.Context, o options, dir string, stdout io.Writer) (results []result, err error) {
	address, after := o.target, func() error { return nil }
	if address == "" {
		s, err := setUp(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		address, after = s.proxy.Addr, s.check
		fmt.Fprintf(stdout, "redlockd at %s over %s\n", address, servers.Nodes(s.nodes))
	}
	for _, name := range o.languages {
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		results = append(results, runLanguage(ctx, filepath.Join(dir, name), address, stdout))
		if err := after(); err != nil {
			return results, fmt.Errorf("after %s: %w", name, err)
		}
	}
	if o.keep {
		fmt.Fprintf(stdout, "\nthe servers are up, redlockd at %s, until Ctrl-C\n", address)
		<-ctx.Done()
	}
	return results, nil
}
