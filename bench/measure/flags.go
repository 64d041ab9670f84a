package measure

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	rows           *regexp.Regexp // nil: the usual ones
	all            bool
	quick          bool
	length         time.Duration // per row
	warmup         time.Duration
	jsonFile       string
	plots          string // directory
	list           bool
	redisBenchmark bool
	redlockd       string   // binary; empty: build it
	redlockdFlags  []string // for every redlockd
}

const (
	defaultSeconds = 2.5 // makes about five minutes of the usual rows
	minSeconds     = 0.05
	maxSeconds     = 20 // locks live 30 s: none may end by itself within a row
	quickSeconds   = 0.2
	warmupSeconds  = 0.5 // the proxy's heap and pipes, the node's first rehashes
	quickWarmup    = 0.1
)

const help = `%s [flags]

Measures redlockd in one run on one machine, in ratios to what it stands in front of. It starts every server itself and cleans
up after itself. A row is <target>-<nodes>/<work>/c<clients>/p<pipeline>, then open<percent of the closed loop's rate> and the fault:

  redlockd-5/take/c50/p1/open50/stopped    direct/get/c50/p16    floor-5/take/c50/p1

`

// parse reads the flags. More is called with the set before it is read: a program with peers may have flags of its own.
func parse(name string, args []string, out io.Writer, more func(*flag.FlagSet)) (options, error) {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(out)
	var o options
	pattern := fs.String("rows", "", "of all rows measure those whose name matches this `regexp`, and those they are compared with (see --list)")
	fs.BoolVar(&o.all, "all", false, "measure every row there is, not only the usual ones; takes a quarter of an hour and more")
	seconds := fs.Float64("seconds", defaultSeconds, "measured `seconds` per row; longer is steadier")
	fs.BoolVar(&o.quick, "quick", false, "very short rows, to see that everything works; the figures mean nothing")
	fs.StringVar(&o.jsonFile, "json", "", "also write everything to this `file`")
	fs.StringVar(&o.plots, "plots", "", "also draw throughput and latency under faults, as SVG files in this `directory`")
	fs.BoolVar(&o.list, "list", false, "print the names of the rows that would be measured and exit")
	fs.BoolVar(&o.redisBenchmark, "redis-benchmark", false, "also let redis-benchmark make the load, as a second opinion on our generator")
	fs.StringVar(&o.redlockd, "redlockd", "", "measure this `binary` instead of building one")
	flags := fs.String("redlockd-flags", "", "more `flags` for redlockd, separated by spaces")
	if more != nil {
		more(fs)
	}
	fs.Usage = func() {
		fmt.Fprintf(out, help, name)
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; all there is are flags, see --help", fs.Arg(0))
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if o.quick && set["seconds"] {
		return o, errors.New("--quick and --seconds exclude each other")
	}
	if !(*seconds >= minSeconds && *seconds <= maxSeconds) { // written so that NaN is refused
		return o, fmt.Errorf("--seconds is %g; it must lie between %g and %g: the locks taken live 30 s and none may end by itself",
			*seconds, minSeconds, float64(maxSeconds))
	}
	o.length, o.warmup = duration(*seconds), duration(min(warmupSeconds, *seconds))
	if o.quick {
		o.length, o.warmup = duration(quickSeconds), duration(quickWarmup)
	}
	if o.all && set["rows"] {
		return o, errors.New("--rows and --all exclude each other: --rows chooses of all rows")
	}
	if set["rows"] {
		var err error
		if o.rows, err = regexp.Compile(*pattern); err != nil {
			return o, fmt.Errorf("--rows: %w", err)
		}
	}
	o.redlockdFlags = strings.Fields(*flags)
	return o, nil
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// commandLine is how this run can be had again. The name is that of the program for who calls it by `go run`.
func commandLine(name string, args []string) string {
	parts := strings.Fields(name)
	if !strings.HasPrefix(os.Args[0], os.TempDir()) && !strings.Contains(os.Args[0], "go-build") {
		parts = []string{os.Args[0]}
	}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\"'`$\\|&;()<>*?[]{}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		parts = append(parts, a)
	}
	return strings.Join(parts, " ")
}
