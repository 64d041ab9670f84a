package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlockd/bench/load"
	"redlockd/bench/plot"
	"redlockd/bench/rows"
)

// Plot is one picture, and the name of its file.
type Plot struct {
	Name string
	SVG  []byte
}

// Plots are the pictures that this run has the figures for.
func (r *Report) Plots() []Plot {
	var plots []Plot
	for _, pipeline := range []int{1, 16, 64} {
		if p, ok := r.throughput(pipeline); ok {
			plots = append(plots, p)
		}
	}
	if p, ok := r.faults(); ok {
		plots = append(plots, p)
	}
	return plots
}

// fewest is how many numbers of clients make a line worth a picture.
const fewest = 3

// throughput is the rate over the number of clients, a line per target; false where there is no line.
func (r *Report) throughput(pipeline int) (Plot, bool) {
	name, title := "throughput", "Locks taken per second, by clients"
	if pipeline > 1 {
		name += fmt.Sprintf("-p%d", pipeline)
		title += fmt.Sprintf(", each with a pipeline of %d", pipeline)
	}
	var series []plot.Series
	longest := 0
	for _, l := range r.Lines {
		row := l.Row
		second := row.Generator == rows.RedisBenchmark && row.Target != rows.Floor
		if row.Work != load.Take || row.Pipeline != pipeline || row.Open > 0 || row.Fault != rows.Healthy || second {
			continue
		}
		at := slices.IndexFunc(series, func(s plot.Series) bool { return s.Name == r.label(row) })
		if at < 0 {
			at = len(series)
			series = append(series, plot.Series{Name: r.label(row)})
		}
		s := &series[at]
		s.Points = append(s.Points, plot.Point{X: float64(l.Clients), Y: l.PerSecond, Hollow: l.Errors > 0})
		longest = max(longest, len(s.Points))
	}
	for _, s := range series {
		slices.SortFunc(s.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	}
	frame := plot.Frame{Title: title, X: "clients (logarithmic)", Y: "locks taken per second", Small: r.small()}
	return Plot{name + ".svg", plot.Lines{Frame: frame, Series: series, Reserve: "some answers were wrong"}.SVG()}, longest >= fewest
}

// faultsShare is the open loop that the picture of faults is drawn from: half of what each could do is a usual load.
const faultsShare = 50

// faults is the latency in an open loop, healthy and with each fault; false where no fault was measured so.
func (r *Report) faults() (Plot, bool) {
	groups := []rows.Fault{rows.Healthy, rows.Stopped, rows.Slow, rows.Dead, rows.Restarting, rows.Taught}
	var series []plot.Group
	broken := false
	for _, l := range r.Lines {
		at := slices.Index(groups, l.Row.Fault)
		if l.Row.Work != load.Take || l.Row.Open != faultsShare || at < 0 {
			continue
		}
		healthy, _ := l.Row.HealthyRow()
		s := slices.IndexFunc(series, func(g plot.Group) bool { return g.Name == r.label(healthy) })
		if s < 0 {
			s = len(series)
			series = append(series, plot.Group{Name: r.label(healthy), Ranges: make([]plot.Range, len(groups))})
		}
		series[s].Ranges[at] = plot.Range{Low: l.P50, Mid: l.P99, High: l.P999, Hollow: l.behind() != "" || l.Errors > 0}
		broken = broken || at > 0
	}
	names := []string{"healthy"}
	for _, f := range groups[1:] {
		names = append(names, strings.TrimPrefix(faultNames[f], ", "))
	}
	for i := len(groups) - 1; i > 0; i-- { // a fault that nobody was measured with
		if slices.ContainsFunc(series, func(g plot.Group) bool { return g.Ranges[i] != plot.Range{} }) {
			continue
		}
		names = slices.Delete(names, i, i+1)
		for s := range series {
			series[s].Ranges = slices.Delete(series[s].Ranges, i, i+1)
		}
	}
	how := fmt.Sprintf("open loop at %d %% of each one's healthy rate in a closed loop; latency counts from when a take was to be sent",
		faultsShare)
	frame := plot.Frame{
		Title: "Latency of a take while a node is broken", X: "what is broken", Y: "milliseconds (logarithmic)",
		Small: append([]string{how}, r.small()...),
	}
	return Plot{"latency-faults.svg", plot.Ranges{
		Frame: frame, Groups: names, Series: series, Marks: [3]string{"p50", "p99", "p99.9"}, Reserve: "behind schedule, or errors",
	}.SVG()}, broken
}

// small is the small print of every picture.
func (r *Report) small() []string {
	versions := fmt.Sprintf("%s, Redis %s", r.Machine.Go, r.Machine.Redis)
	if r.Machine.Redlockd != "" {
		versions += ", " + r.Machine.Redlockd
	}
	for _, p := range r.Peers {
		if p.Missing == "" {
			versions += ", " + r.TargetName(rows.Target(p.Target)) + " " + p.Version
		}
	}
	return []string{
		fmt.Sprintf("%s (%s, %g s a measurement)", r.Command, r.Started.Format("2006-01-02"), r.Seconds),
		fmt.Sprintf("%d cores, %s, %s, load generator and all servers on this machine", r.Machine.Cores, r.Machine.CPU, r.Machine.System),
		versions,
	}
}
