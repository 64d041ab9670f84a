package rows

import (
	"slices"

	"redlockd/bench/load"
)

const (
	floorNodes  = 5     // the fleet that the floor, the faults and the goals are measured with
	many        = 50    // clients of the rows that are about throughput; redis-benchmark's own default
	idleClients = 10000 // of the row that is about memory
)

// What is varied in the matrix. One waiting client is about latency, the others are about throughput.
var (
	clients   = []int{1, 10, many, 200, 1000}
	pipelines = []int{1, 16, 64}
	fleets    = []int{1, 3, floorNodes, 7}
	shares    = []int{25, 50, 75} // percent of the closed loop's rate, in an open one
)

// faults of fifty clients' takes, in the order in which they are measured.
var faults = []Fault{Unwatched, Stopped, Slow, Dead, Restarting, Taught}

// All is every row, in the order in which they are measured. Rows that are compared stand next to each other, because a
// machine's speed drifts within minutes.
func All(second bool) []Row {
	var all []Row
	add := func(rows ...Row) { all = append(all, rows...) }
	for _, p := range pipelines {
		for _, c := range clients {
			add(versus(load.Take, c, p, fleets...)...)
			if c != many {
				continue
			}
			row := redlockd(load.Take, c, p)
			floor, _ := row.FloorRow()
			add(floor)
			if p <= 16 { // more than that is a queue, and a fault only makes it longer
				add(withFaults(row, faults)...)
				add(redlockd(load.Refused, c, p), direct(load.Refused, c, p))
			}
			if second && p <= 16 {
				direct, redlockd := direct(load.Take, c, p), row
				direct.Generator, redlockd.Generator = RedisBenchmark, RedisBenchmark
				add(direct, redlockd)
			}
		}
	}
	for _, p := range pipelines {
		for _, c := range clients {
			add(versus(load.Cycle, c, p, fleets...)...)
			if c == many && p <= 16 {
				add(withFaults(redlockd(load.Cycle, c, p), []Fault{Stopped})...)
			}
		}
	}
	add(versus(load.Contended, many, 1, 1, floorNodes)...)
	for _, work := range []load.Work{load.Get, load.PTTL, load.Ping} {
		add(versus(work, many, 1, 1, floorNodes)...)
		add(versus(work, many, 16, 1, floorNodes)...)
	}
	add(versus(load.CycleEval, many, 1, 1, floorNodes)...)
	add(open()...)
	return append(all, Row{Target: Redlockd, Nodes: floorNodes, Work: load.Idle, Clients: idleClients, Pipeline: 1, Generator: Own})
}

// open is the rows in an open loop.
func open() []Row {
	var list []Row
	for _, share := range shares {
		for _, row := range versus(load.Take, many, 1, floorNodes) {
			row.Open = share
			list = append(list, row)
			if row.Target == Redlockd {
				list = append(list, withFaults(row, faults[1:])...)
			}
		}
	}
	return list
}

func direct(work load.Work, clients, pipeline int) Row {
	return Row{Target: Direct, Nodes: 1, Work: work, Clients: clients, Pipeline: pipeline, Generator: Own}
}

func redlockd(work load.Work, clients, pipeline int) Row {
	return Row{Target: Redlockd, Nodes: floorNodes, Work: work, Clients: clients, Pipeline: pipeline, Generator: Own}
}

// versus is a direct row and redlockd over each of these numbers of nodes.
func versus(work load.Work, clients, pipeline int, nodes ...int) []Row {
	list := []Row{direct(work, clients, pipeline)}
	for _, n := range nodes {
		row := redlockd(work, clients, pipeline)
		row.Nodes = n
		list = append(list, row)
	}
	return list
}

// withFaults is the row with each of these faults.
func withFaults(row Row, faults []Fault) []Row {
	var list []Row
	for _, f := range faults {
		row.Fault = f
		list = append(list, row)
	}
	return list
}

// Usual keeps what is measured unless more is asked for: what the goals and the plots need, in a few minutes. Also are
// other rows of all that are wanted: those of peers.
func Usual(all []Row, also ...Row) []Row {
	return keep(all, func(r Row) bool { return usual(r) || slices.Contains(also, r) })
}

func usual(r Row) bool {
	small := r.Target != Redlockd || r.Nodes == floorNodes
	switch {
	case r.Generator == RedisBenchmark || r.Work == load.Idle || r.Work == load.Contended || r.Work == load.Refused:
		return small
	case r.Open > 0:
		return r.Target == Redlockd && (r.Fault == Healthy || r.Open == 50)
	case r.Work == load.Get || r.Work == load.PTTL:
		return small && r.Pipeline == 1
	case r.Work == load.Cycle:
		return small && slices.Contains([]int{1, many}, r.Clients) && r.Pipeline == 1 || small && r.Clients == many && r.Pipeline == 16
	case r.Work != load.Take:
		return false
	case r.Clients == many && r.Pipeline <= 16: // all fleets, all faults; it takes long to have something to teach
		return r.Fault != Taught || r.Pipeline == 1
	case r.Pipeline == 1: // the plot over clients
		return small || r.Nodes == 1
	}
	return small && slices.Contains([]int{1, many}, r.Clients)
}
