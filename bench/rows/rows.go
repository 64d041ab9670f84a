// Package rows is the table of what bench measures: one Row per line of its report, and which rows are compared with
// which. It starts nothing and measures nothing.
package rows

import (
	"fmt"
	"regexp"
	"slices"
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

// The targets of bench/peers that a goal is about. It has more.
const (
	RedsyncRedigo  Target = "redsync-redigo"
	RedsyncGoRedis Target = "redsync-goredis"
	Twemproxy      Target = "twemproxy"
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

// The faults, of the last node. They begin with the measured time, after the warm-up, so that what a fault does at its onset
// is measured too.
const (
	Healthy    Fault = ""
	Stopped    Fault = "stopped"    // SIGSTOP
	Slow       Fault = "slow"       // its answers take 20 ms longer
	Dead       Fault = "dead"       // SIGKILL
	Restarting Fault = "restarting" // killed and started again, empty, about every second
	Taught     Fault = "taught"     // killed, restarts empty, and is taught the million locks that the others hold
	Unwatched  Fault = "unwatched"  // no node: redlockd built without its watch of the nodes' marks and clocks: what the watch costs
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
	Open      int // open loop at this percentage of the rate of ClosedRow; 0: closed loop
}

// Name is what --rows is matched against, and what identifies a row in the JSON: target, work, clients and
// pipeline, with slashes between, and what is special about it.
func (r Row) Name() string {
	name := string(r.Target)
	if r.Target != Direct && r.Nodes > 0 {
		name += "-" + strconv.Itoa(r.Nodes)
	}
	name += fmt.Sprintf("/%s/c%d/p%d", r.Work, r.Clients, r.Pipeline)
	if r.Open > 0 {
		name += fmt.Sprintf("/open%d", r.Open)
	}
	if r.Fault != Healthy {
		name += "/" + string(r.Fault)
	}
	if r.Generator == RedisBenchmark && r.Target != Floor {
		name += "/redis-benchmark"
	}
	return name
}

// SameShape says whether two rows do the same work with the same clients and pipeline, both in a closed loop or both in an
// open one: whether they stand in one block of the table.
func (r Row) SameShape(o Row) bool {
	return r.Work == o.Work && r.Clients == o.Clients && r.Pipeline == o.Pipeline && (r.Open > 0) == (o.Open > 0)
}

// DirectRow is the row without a proxy that this one is compared with; false for that row itself, and where there is none:
// in an open loop each target has a rate of its own. The generator is the same, except for the floor, which has only one.
func (r Row) DirectRow() (Row, bool) {
	d := Row{Target: Direct, Nodes: 1, Work: r.Work, Clients: r.Clients, Pipeline: r.Pipeline, Generator: r.Generator}
	if r.Target == Floor {
		d.Generator = Own
	}
	return d, r != d && r.Open == 0 && r.Work != load.Idle
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
	return f, r.Target == Redlockd && r.Fault == Healthy && r.Work == load.Take && r.Nodes == floorNodes && r.Clients == many && r.Open == 0
}

// GrantedRow is the row whose takes are granted, of one whose takes are refused; false for every other row.
func (r Row) GrantedRow() (Row, bool) {
	g := r
	g.Work = load.Take
	return g, r.Work == load.Refused
}

// RedlockdRow is redlockd's row of the same kind, over as many nodes, beside a peer's; false for whoever is none. A peer without
// redis-server is compared with the fleet that the goals are about.
func (r Row) RedlockdRow() (Row, bool) {
	o := r
	o.Target = Redlockd
	if !slices.Contains(fleets, r.Nodes) {
		o.Nodes = floorNodes
	}
	return o, r.Target != Direct && r.Target != Redlockd && r.Target != Floor
}

// ClosedRow is the row whose rate an open loop's rate is a share of: the same with nothing broken; false in a closed loop.
func (r Row) ClosedRow() (Row, bool) {
	c := r
	c.Open, c.Fault = 0, Healthy
	return c, r.Open > 0
}

// others are what a row is compared with.
var others = []func(Row) (Row, bool){Row.DirectRow, Row.HealthyRow, Row.FloorRow, Row.GrantedRow, Row.ClosedRow, Row.RedlockdRow}

// Select keeps the rows whose name matches, and those they are compared with: a row without its ratio says nothing.
func Select(all []Row, name *regexp.Regexp) []Row {
	return keep(all, func(r Row) bool { return name.MatchString(r.Name()) })
}

// keep keeps the wanted rows and those they are compared with.
func keep(all []Row, want func(Row) bool) []Row {
	wanted := map[Row]bool{}
	for _, r := range all {
		if !want(r) {
			continue
		}
		wanted[r] = true
		for _, other := range others {
			if o, ok := other(r); ok {
				wanted[o] = true
				if closed, ok := o.ClosedRow(); ok { // without it, it has no rate
					wanted[closed] = true
				}
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
