package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

// column is one of a table. One in which no line has a value is not shown.
type column struct {
	title string
	cell  func(l Line) string
}

const none = "-"

var (
	errorsColumn = column{"errors", func(l Line) string { return strconv.FormatUint(l.Errors, 10) }}
	p50Column    = column{"p50 ms", func(l Line) string { return millis(l.P50) }}
	p99Column    = column{"p99 ms", func(l Line) string { return millis(l.P99) }}
	ofHealthyP99 = column{"p99/healthy", func(l Line) string { return times(l.P99OfHealthy) }}
)

// closedColumns are those of the rows in a closed loop.
var closedColumns = []column{
	{"per second", func(l Line) string { return Thousands(l.PerSecond) }},
	{"of direct", func(l Line) string { return times(l.OfDirect) }},
	{"of floor", func(l Line) string { return times(l.OfFloor) }},
	{"redlockd/it", func(l Line) string { return times(l.Redlockd) }},
	p50Column, p99Column,
	{"p50/direct", func(l Line) string { return times(l.P50OfDirect) }},
	{"rate/healthy", func(l Line) string { return times(l.OfHealthy) }},
	ofHealthyP99,
	{"rate/granted", func(l Line) string { return times(l.OfGranted) }},
	errorsColumn,
	{"µs load", func(l Line) string { return micros(l.CPU.Generator) }},
	{"µs proxy", func(l Line) string { return micros(l.CPU.Proxy) }},
	{"µs nodes", func(l Line) string { return micros(l.CPU.Nodes) }},
}

// openColumns are those of the rows in an open loop.
var openColumns = []column{
	{"of closed", func(l Line) string { return strconv.Itoa(l.Open) + " %" }},
	{"asked per second", func(l Line) string { return Thousands(l.Wanted) }},
	{"answered", func(l Line) string { return Thousands(l.PerSecond) }},
	p50Column, p99Column,
	{"p99.9 ms", func(l Line) string { return millis(l.P999) }},
	{"max ms", func(l Line) string { return millis(l.Max) }},
	ofHealthyP99,
	{"sent late", func(l Line) string { return fmt.Sprintf("%.1f %%", 100*l.Late) }},
	errorsColumn,
}

const legend = `per second: operations with the right answer; a take + release counts once.   of direct, of floor: that rate over the one without a
proxy, and over one redis-benchmark per node, side by side (the slowest of them).   redlockd/it: redlockd's rate over this one.   p50, p99:
of one batch (the whole pipeline), closed loop, so compare within a block only.   µs: CPU time per operation of generator, proxy (or a
peer's own processes) and all nodes together.   Every reply of our own generator is checked; of redis-benchmark, the keys that stand
afterwards are counted.   disturbed: the machine's CPU time that went to processes which are none of this run's, and the longest time for
which it stood still.
`

const openLegend = `Open loop: operations are sent at a fixed rate, by Poisson's law, whether or not earlier ones were answered. Latency counts from the moment
an operation was to be sent. sent late: more than %v after that moment; behind schedule means that the generator or the clients' pool
could not keep up: the latencies hold, the rate does not.   All quantiles are at most 1.6 %% above the true ones.
`

// Table prints the report for a screen.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Machine)
	r.peers(&b)
	fmt.Fprintf(&b, "command: %s   (%s, %g s a row)\n\n", r.Command, r.Started.Format("2006-01-02 15:04:05"), r.Seconds)
	var closed, open, idle []Line
	for _, l := range r.Lines {
		switch {
		case l.Row.Work == load.Idle:
			idle = append(idle, l)
		case l.Open > 0:
			open = append(open, l)
		default:
			closed = append(closed, l)
		}
	}
	if len(closed) > 0 {
		r.section(&b, closedColumns, closed)
		b.WriteString("\n" + legend + "\n")
	}
	if len(open) > 0 {
		r.section(&b, openColumns, open)
		fmt.Fprintf(&b, "\n"+openLegend+"\n", load.LateLimit)
	}
	for _, l := range idle {
		fmt.Fprintf(&b, "%s\n  %s: %s clients: %.1f KiB of resident memory each, errors %d   %s\n\n",
			workNames[l.Row.Work], r.label(l.Row), Thousands(float64(l.Clients)), l.ClientKiB, l.Errors, l.notes())
	}
	r.problems(&b)
	r.printGoals(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// peers says what was measured beside redlockd, and what was not.
func (r *Report) peers(b *strings.Builder) {
	for _, p := range r.Peers {
		name := r.TargetName(rows.Target(p.Target))
		if p.Missing != "" {
			fmt.Fprintf(b, "left out: %s: %s\n", name, p.Missing)
		} else {
			fmt.Fprintf(b, "beside: %s %s\n", name, p.Version)
		}
	}
}

// String shows the machine on two lines.
func (m Machine) String() string {
	s := fmt.Sprintf("machine: %d cores, %s, %s, load before %s\nversions: %s, Redis %s", m.Cores, m.CPU, m.System, m.Load, m.Go, m.Redis)
	if m.Redlockd != "" {
		s += ", " + m.Redlockd
	}
	return s
}

// section prints lines under their columns, with a title above each block.
func (r *Report) section(b *strings.Builder, columns []column, lines []Line) {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(lines, func(l Line) bool { return c.cell(l) != none })
	})
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.title)
	}
	cells := [][]string{append(head, "notes")}
	block := ""
	for _, l := range lines {
		if title := blockTitle(l.Row); title != block {
			block = title
			cells = append(cells, nil, []string{title})
		}
		line := []string{"  " + r.label(l.Row)}
		for _, c := range columns {
			line = append(line, c.cell(l))
		}
		cells = append(cells, append(line, l.notes()))
	}
	align(b, cells)
}

// align pads all columns to their widest cell: the first and the last to the left, the others to the right. A line of one
// cell is a title and has no say.
func align(b *strings.Builder, cells [][]string) {
	width := make([]int, len(cells[0]))
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
			case i == len(width)-1: // no padding at the end of a line
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

// problems says what makes this less than a full and sound run.
func (r *Report) problems(b *strings.Builder) {
	noisy, behind := 0, 0
	for _, l := range r.Lines {
		if l.Errors > 0 {
			fmt.Fprintf(b, "ERRORS: %s: %d, for example: %s\n", l.Name, l.Errors, l.FirstError)
		}
		if l.noisy() != "" {
			noisy++
		}
		if l.behind() != "" {
			behind++
		}
	}
	if behind > 0 {
		fmt.Fprintf(b, "BEHIND SCHEDULE: %d of %d rows.\n", behind, len(r.Lines))
	}
	if noisy > 0 {
		fmt.Fprintf(b, "NOISY: %d of %d rows were not measured on a quiet machine; measure them again.\n", noisy, len(r.Lines))
	}
	if r.Interrupted {
		b.WriteString("INTERRUPTED: rows are missing.\n")
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
		return none
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func millis(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func micros(v float64) string {
	if v == 0 {
		return none
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
