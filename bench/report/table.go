package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

// columns of the table; the first and the last are aligned to the left, the others to the right.
var columns = []string{
	"", "per second", "of direct", "of floor", "p50 ms", "p99 ms", "p50/direct", "rate/healthy", "p99/healthy", "errors",
	"µs load", "µs proxy", "µs nodes", "disturbed by",
}

const legend = `per second: operations with the right answer; a take + release counts once.   of direct, of floor: that rate over the one without a
proxy, and over one redis-benchmark per node, side by side (the slowest of them).   p50, p99: of one batch (the whole pipeline), closed
loop, so compare within a block only.   µs: CPU time per operation of generator, proxy and all nodes together.   Every reply of our own
generator is checked; of redis-benchmark, the keys that stand afterwards are counted.   disturbed by: the machine's CPU time that went to
processes which are none of this run's, and the longest time for which it stood still.
`

// Table prints the report for a screen.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Machine)
	for _, p := range r.Peers {
		if p.Missing != "" {
			fmt.Fprintf(&b, "left out: %s: %s\n", p.name(), p.Missing)
		} else {
			fmt.Fprintf(&b, "beside: %s %s\n", p.name(), p.Version)
		}
	}
	fmt.Fprintf(&b, "command: %s   (%s, %g s a row)\n\n", r.Command, r.Started.Format("2006-01-02 15:04:05"), r.Seconds)
	cells := [][]string{columns}
	block := ""
	for _, l := range r.Lines {
		if title := blockTitle(l); title != block {
			block = title
			cells = append(cells, nil, []string{title})
		}
		cells = append(cells, l.cells(r.labels()))
	}
	align(&b, cells)
	b.WriteString("\n" + legend)
	r.problems(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (p Peer) name() string {
	if p.Label == "" {
		return p.Target
	}
	return p.Label
}

// labels is what the table calls the targets that are peers.
func (r *Report) labels() map[rows.Target]string {
	names := map[rows.Target]string{}
	for _, p := range r.Peers {
		names[rows.Target(p.Target)] = p.name()
	}
	return names
}

// String shows the machine on two lines.
func (m Machine) String() string {
	s := fmt.Sprintf("machine: %d cores, %s, %s, load before %s\nversions: %s, Redis %s", m.Cores, m.CPU, m.System, m.Load, m.Go, m.Redis)
	if m.Redlockd != "" {
		s += ", " + m.Redlockd
	}
	return s
}

var workNames = map[load.Work]string{
	load.Ping:      "PING",
	load.Take:      "take",
	load.Cycle:     "take + release (EVALSHA)",
	load.CycleEval: "take + release (EVAL)",
}

func blockTitle(l Line) string {
	return fmt.Sprintf("%s, %s, pipeline %d", workNames[l.Row.Work], count(l.Clients, "client"), l.Pipeline)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// label names the line within its block.
func (l Line) label(peers map[rows.Target]string) string {
	var s string
	switch l.Row.Target {
	case rows.Direct:
		s = "one Redis, directly"
	case rows.Floor:
		return fmt.Sprintf("%d redis-benchmark, one a node", l.Nodes)
	default:
		s = l.Target
		if name := peers[l.Row.Target]; name != "" {
			s = name
		}
		if l.Nodes > 0 {
			s = fmt.Sprintf("%s N=%d", s, l.Nodes)
		}
	}
	switch l.Row.Fault {
	case rows.Healthy:
	case rows.Stopped:
		s += ", one stopped"
	case rows.Taught:
		s += ", one taught"
	default:
		s += ", " + l.Fault
	}
	if l.Row.Generator == rows.RedisBenchmark {
		s += ", redis-benchmark"
	}
	return s
}

func (l Line) cells(peers map[rows.Target]string) []string {
	return []string{
		"  " + l.label(peers), Thousands(l.PerSecond), times(l.OfDirect), times(l.OfFloor), millis(l.P50), millis(l.P99), times(l.P50OfDirect),
		times(l.OfHealthy), times(l.P99OfHealthy), strconv.FormatUint(l.Errors, 10),
		micros(l.CPU.Generator), micros(l.CPU.Proxy), micros(l.CPU.Nodes), l.noisy(),
	}
}

// problems ends the table with what makes it less than a full and sound one.
func (r *Report) problems(b *strings.Builder) {
	noisy := 0
	for _, l := range r.Lines {
		if l.Errors > 0 {
			fmt.Fprintf(b, "ERRORS: %s: %d, for example: %s\n", l.Name, l.Errors, l.FirstError)
		}
		if l.noisy() != "" {
			noisy++
		}
	}
	if noisy > 0 {
		fmt.Fprintf(b, "NOISY: %d of %d rows were not measured on a quiet machine; measure them again.\n", noisy, len(r.Lines))
	}
	if r.Interrupted {
		b.WriteString("INTERRUPTED: rows are missing.\n")
	}
}

// align pads all columns to their widest cell. A line of one cell is a title and has no say.
func align(b *strings.Builder, cells [][]string) {
	width := make([]int, len(columns))
	for _, line := range cells {
		for i, c := range line {
			if len(line) > 1 {
				width[i] = max(width[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, line := range cells {
		for i, c := range line {
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(c)))
			switch {
			case len(line) == 1:
				b.WriteString(c)
			case i == 0:
				b.WriteString(c + pad)
			case i == len(columns)-1: // no padding at the end of a line
				if c != "" {
					b.WriteString("  " + c)
				}
			default:
				b.WriteString("  " + pad + c)
			}
		}
		b.WriteByte('\n')
	}
}

// Thousands shows a number without decimals, in groups of three.
func Thousands(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func times(v float64) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func millis(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func micros(v float64) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
