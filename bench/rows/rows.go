// Package rows is the table of what bench measures: one Row per line of its report, and which rows are compared with
// which. It starts nothing and measures nothing.
package rows

import (
	"fmt"
	"regexp"
	"strconv"

	"redlockd/bench/load"
)

// Target is what the clients talk to.
type Target string

// The targets. A row's number of nodes says how many redis-server there are.
const (
	Direct   Target = "direct"   // one redis-server: no proxy, no quorum
	Redlockd Target = "redlockd" // redlockd over N nodes
	Floor    Target = "floor"    // one redis-benchmark per node, at once: what a client-side fan-out in C could do at best
)

// Generator is who makes the load.
type Generator string

// The generators. redis-benchmark is a second opinion on ours.
const (
	Own            Generator = "own"
	RedisBenchmark Generator = "redis-benchmark"
)

// Fault is what is broken while a row is measured.
type Fault string

// The faults. They begin with the measured time, after the warm-up, so that what a fault does at its onset is measured too.
const (
	Healthy   Fault = ""
	Stopped   Fault = "stopped"   // the last node gets SIGSTOP
	Taught    Fault = "taught"    // the last node is killed, restarts empty, and is taught the million locks that the others hold
	Unwatched Fault = "unwatched" // redlockd built without its watch of the nodes' marks and clocks: what the watch costs
)

// Row is one measurement.
type Row struct {
	Target    Target
	Nodes     int
	Work      load.Work
	Clients   int
	Pipeline  int
	Fault     Fault
	Generator Generator
}

// Name is what --rows is matched against, and what identifies a row in the JSON: target, work, clients and
// pipeline, with slashes between, and what is special about it.
func (r Row) Name() string {
	name := string(r.Target)
	if r.Target != Direct && r.Nodes > 0 {
		name += "-" + strconv.Itoa(r.Nodes)
	}
	name += fmt.Sprintf("/%s/c%d/p%d", r.Work, r.Clients, r.Pipeline)
	if r.Fault != Healthy {
		name += "/" + string(r.Fault)
	}
	if r.Generator == RedisBenchmark && r.Target != Floor {
		name += "/redis-benchmark"
	}
	return name
}

// SameShape says whether two rows do the same work with the same clients and pipeline: whether they stand in one block of the table.
func (r Row) SameShape(o Row) bool {
	return r.Work == o.Work && r.Clients == o.Clients && r.Pipeline == o.Pipeline
}

// DirectRow is the row without a proxy that this one is compared with; false for that row itself. The generator is the same,
// except for the floor, which has only one.
func (r Row) DirectRow() (Row, bool) {
	d := Row{Target: Direct, Nodes: 1, Work: r.Work, Clients: r.Clients, Pipeline: r.Pipeline, Generator: r.Generator}
	if r.Target == Floor {
		d.Generator = Own
	}
	return d, r != d
}

// HealthyRow is the same row with nothing broken; false for that row itself.
func (r Row) HealthyRow() (Row, bool) {
	h := r
	h.Fault = Healthy
	return h, r != h
}

// FloorRow is the fan-out over as many nodes with as many clients on each; false where there is none: it only takes.
func (r Row) FloorRow() (Row, bool) {
	f := Row{Target: Floor, Nodes: r.Nodes, Work: load.Take, Clients: r.Clients, Pipeline: r.Pipeline, Generator: RedisBenchmark}
	return f, r.Target == Redlockd && r.Fault == Healthy && r.Work == load.Take && r.Nodes == floorNodes && r.Clients == many
}

const (
	floorNodes = 5  // the fleet that the floor is measured with
	many       = 50 // clients of the rows that are about throughput; redis-benchmark's own default
)

// shapes are clients and pipeline: one waiting client is about latency, fifty are about throughput.
var shapes = []struct{ clients, pipeline int }{{1, 1}, {many, 1}, {1, 16}, {many, 16}}

// All is every row, in the order in which they are measured. Rows that are compared stand next to each other, because a
// machine's speed drifts within minutes.
func All(second bool) []Row {
	var all []Row
	add := func(rows ...Row) { all = append(all, rows...) }
	add(versus(load.Ping, many, 1, 5)...)
	add(versus(load.Ping, many, 16, 5)...)
	for _, s := range shapes {
		add(versus(load.Take, s.clients, s.pipeline, 1, 3, 5)...)
		healthy := all[len(all)-1]
		if s.clients == many {
			stopped, taught, unwatched := healthy, healthy, healthy
			stopped.Fault, taught.Fault, unwatched.Fault = Stopped, Taught, Unwatched
			add(unwatched, stopped, taught)
			floor, _ := healthy.FloorRow()
			add(floor)
		}
		if s.clients == many && second {
			direct, redlockd := healthy, healthy
			direct.Target, direct.Nodes = Direct, 1
			direct.Generator, redlockd.Generator = RedisBenchmark, RedisBenchmark
			add(direct, redlockd)
		}
	}
	for _, s := range shapes {
		add(versus(load.Cycle, s.clients, s.pipeline, 1, 3, 5)...)
		if s.clients == many {
			stopped := all[len(all)-1]
			stopped.Fault = Stopped
			add(stopped)
		}
	}
	return append(all, versus(load.CycleEval, many, 1, 5)...)
}

// versus is a direct row and redlockd over each of these numbers of nodes.
func versus(work load.Work, clients, pipeline int, nodes ...int) []Row {
	list := []Row{{Target: Direct, Nodes: 1, Work: work, Clients: clients, Pipeline: pipeline, Generator: Own}}
	for _, n := range nodes {
		list = append(list, Row{Target: Redlockd, Nodes: n, Work: work, Clients: clients, Pipeline: pipeline, Generator: Own})
	}
	return list
}

// Select keeps the rows whose name matches, and those they are compared with: a row without its ratio says nothing.
func Select(all []Row, name *regexp.Regexp) []Row {
	wanted := map[Row]bool{}
	for _, r := range all {
		if !name.MatchString(r.Name()) {
			continue
		}
		wanted[r] = true
		for _, other := range []func(Row) (Row, bool){Row.DirectRow, Row.HealthyRow, Row.FloorRow} {
			if o, ok := other(r); ok {
				wanted[o] = true
			}
		}
	}
	var selected []Row
	for _, r := range all {
		if wanted[r] {
			selected = append(selected, r)
		}
	}
	return selected
}
