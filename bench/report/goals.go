package report

import (
	"fmt"
	"strings"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

// Goal is what redlockd is held to, and what this run says of it.
type Goal struct {
	What    string  `json:"what"`
	Target  float64 `json:"target"`
	AtMost  bool    `json:"at_most,omitempty"` // otherwise: at least
	Unit    string  `json:"unit"`              // "times", "KiB"
	Reached float64 `json:"reached,omitempty"`
	State   State   `json:"state"`
	Noisy   bool    `json:"noisy,omitempty"` // a row that it rests on was not measured on a quiet machine
}

// State is what became of a goal.
type State string

// The states. A goal whose rows had wrong answers is not met, whatever the figures say.
const (
	Unmeasured State = "not measured"
	Met        State = "met"
	NotMet     State = "not met"
	Wrong      State = "not met: wrong answers"
)

// judge collects what the goals rest on.
type judge struct {
	lines map[rows.Row]Line
	goals []Goal
}

// goals holds the run's own rows against what we want.
func (r *Report) goals() []Goal {
	j := &judge{lines: map[rows.Row]Line{}}
	for _, l := range r.Lines {
		j.lines[l.Row] = l
	}
	five := func(clients, pipeline int) rows.Row {
		return rows.Row{Target: rows.Redlockd, Nodes: 5, Work: load.Take, Clients: clients, Pipeline: pipeline, Generator: rows.Own}
	}
	fifty, piped, one := five(50, 1), five(50, 16), five(1, 1)
	redsync := j.faster(as(fifty, rows.RedsyncRedigo), as(fifty, rows.RedsyncGoRedis)) // it knows no pipeline
	floor := func(r rows.Row) rows.Row { f, _ := r.FloorRow(); return f }
	direct := func(r rows.Row) rows.Row { d, _ := r.DirectRow(); return d }

	j.times("50 clients: rate over redsync's, the faster one", 3.5, rate, fifty, redsync)
	j.times("50 clients: rate over five redis-benchmark side by side", 2, rate, fifty, floor(fifty))
	j.times("50 clients, pipeline 16: rate over redsync's, the faster one, without pipeline", 10, rate, piped, redsync)
	j.times("50 clients, pipeline 16: rate over five redis-benchmark side by side", 0.95, rate, piped, floor(piped))
	for _, healthy := range []rows.Row{fifty, piped} {
		stopped := healthy
		stopped.Fault = rows.Stopped
		j.times(fmt.Sprintf("one node stopped, 50 clients, pipeline %d: rate over healthy", healthy.Pipeline), 0.97, rate, stopped, healthy)
		j.atMost(fmt.Sprintf("one node stopped, 50 clients, pipeline %d: p99 over healthy", healthy.Pipeline), 1.2, p99, stopped, healthy)
	}
	j.atMost("one client: p50 over one Redis, directly", 2.5, p50, one, direct(one))
	for _, row := range []rows.Row{fifty, piped} {
		row.Nodes = 1
		j.times(fmt.Sprintf("N=1, 50 clients, pipeline %d: rate over twemproxy's", row.Pipeline), 1, rate, row, as(row, rows.Twemproxy))
	}
	refused := fifty
	refused.Work = load.Refused
	j.atMost("refused take over granted take: CPU time of redlockd and nodes", 1, serverCPU, refused, fifty)
	j.idle(rows.Row{Target: rows.Redlockd, Nodes: 5, Work: load.Idle, Clients: 10_000, Pipeline: 1, Generator: rows.Own})
	j.growth(fifty)
	j.growth(piped)
	return j.goals
}

func rate(l Line) float64      { return l.PerSecond }
func p50(l Line) float64       { return l.P50 }
func p99(l Line) float64       { return l.P99 }
func serverCPU(l Line) float64 { return l.CPU.Proxy + l.CPU.Nodes }

func as(row rows.Row, target rows.Target) rows.Row {
	row.Target = target
	return row
}

// faster is the row of two with the higher rate; one that was not measured has none.
func (j *judge) faster(a, b rows.Row) rows.Row {
	if j.lines[b].PerSecond > j.lines[a].PerSecond {
		return b
	}
	return a
}

func (j *judge) times(what string, target float64, value func(Line) float64, of, over rows.Row) {
	j.add(Goal{What: what, Target: target, Unit: "times", Reached: ratio(value(j.lines[of]), value(j.lines[over]))}, of, over)
}

func (j *judge) atMost(what string, target float64, value func(Line) float64, of, over rows.Row) {
	j.add(Goal{What: what, Target: target, AtMost: true, Unit: "times", Reached: ratio(value(j.lines[of]), value(j.lines[over]))}, of, over)
}

func (j *judge) idle(row rows.Row) {
	l := j.lines[row]
	what := "an idle client"
	if l.Clients > 0 {
		what = fmt.Sprintf("an idle client of %s", Thousands(float64(l.Clients)))
	}
	j.add(Goal{What: what + ": resident memory of redlockd", Target: 20, AtMost: true, Unit: "KiB", Reached: l.ClientKiB}, row)
}

// growth is explained when most of what a take costs more with seven nodes than with one is the nodes' own work.
func (j *judge) growth(row rows.Row) {
	one, seven := row, row
	one.Nodes, seven.Nodes = 1, 7
	a, b := j.lines[one], j.lines[seven]
	g := Goal{
		What:   fmt.Sprintf("N from 1 to 7, 50 clients, pipeline %d: the nodes' own part of the growth in CPU time", row.Pipeline),
		Target: 0.5, Unit: "of it", Reached: ratio(b.CPU.Nodes-a.CPU.Nodes, serverCPU(b)-serverCPU(a)),
	}
	j.add(g, one, seven)
}

// add rules, and appends. What was reached is 0 where a row is missing, or nothing was answered in it.
func (j *judge) add(g Goal, from ...rows.Row) {
	wrong, missing := false, false
	for _, row := range from {
		l, measured := j.lines[row]
		missing = missing || !measured
		wrong = wrong || l.Errors > 0
		g.Noisy = g.Noisy || l.noisy() != ""
	}
	switch {
	case missing:
		g.State, g.Noisy = Unmeasured, false
	case wrong:
		g.State = Wrong
	case g.Reached <= 0:
		g.State = NotMet
	case g.AtMost && g.Reached <= g.Target, !g.AtMost && g.Reached >= g.Target:
		g.State = Met
	default:
		g.State = NotMet
	}
	j.goals = append(j.goals, g)
}

// printGoals ends the table.
func (r *Report) printGoals(b *strings.Builder) {
	cells := [][]string{{"goals (N=5 unless said otherwise; all of this run)", "wanted", "reached", ""}}
	for _, g := range r.Goals {
		sign, reached := "≥", none
		if g.AtMost {
			sign = "≤"
		}
		if g.State != Unmeasured {
			reached = fmt.Sprintf("%.2f", g.Reached)
		}
		state := string(g.State)
		if g.Noisy {
			state += " (noisy)"
		}
		cells = append(cells, []string{"  " + g.What, fmt.Sprintf("%s %g %s", sign, g.Target, g.Unit), reached, state})
	}
	b.WriteByte('\n')
	align(b, cells)
}
