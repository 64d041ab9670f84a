package measure

import (
	"context"
	"slices"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/rows"
)

// Peer is something else that locks, and that redlockd is measured beside: a library in this process, or a server.
// Every row gets fresh nodes (Row.Nodes redis-server; 0 where the peer has no use for them), then Start, then the load, then Check, then Running.Close.
type Peer struct {
	Target  rows.Target // what --rows and the JSON call it: "redsync-redigo"
	Label   string      // what the table calls it: "redsync, redigo pools"; empty: the target
	Version string
	Missing string     // why it is left out, and how to get it; empty: it is measured
	Rows    []rows.Row // what of it is measured, each with this Target; they are put beside redlockd's rows of the same shape
	More    []rows.Row // what else, with --all or --rows

	// Start starts what the peer needs of its own for one row: twemproxy, etcd, node. Nil: nothing.
	Start func(ctx context.Context, s *Stage) (Running, error)

	// Dial is one client, as load.Plan's. Nil: load.Wire to Running.Addr.
	Dial func(s *Stage, client int) (load.Worker, error)

	// Load carries out the whole plan in place of load.Run, for a generator in another process. It must call the plan's
	// hooks, and send at its Rate if the peer has rows in an open loop. Nil: load.Run with Dial.
	Load func(ctx context.Context, s *Stage, plan load.Plan) (load.Result, error)

	// Check, if set, looks after the row whether the locks that were counted really stand. An error is counted as one.
	Check func(ctx context.Context, s *Stage) error
}

// Running is what a Peer's Start started.
type Running struct {
	Addr  string       // whom load.Wire talks to; empty where Dial is set
	Pids  []int        // their CPU time counts as redlockd's does; what the peer does in this process counts as the generator's
	Close func() error // ends all of it; nil: there is nothing to end
}

// choose is the rows to measure.
func (o options) choose(peers []Peer) []rows.Row {
	usual := present(peers, func(p Peer) []rows.Row { return p.Rows })
	more := present(peers, func(p Peer) []rows.Row { return p.More })
	all := beside(rows.All(o.redisBenchmark), usual)
	switch {
	case o.rows != nil:
		return rows.Select(beside(all, more), o.rows)
	case o.all:
		return beside(all, more)
	}
	return rows.Usual(all, usual...)
}

// present is the rows of the peers that are not left out.
func present(peers []Peer, of func(Peer) []rows.Row) []rows.Row {
	var list []rows.Row
	for _, p := range peers {
		if p.Missing == "" {
			list = append(list, of(p)...)
		}
	}
	return list
}

// beside puts each row behind the last one of its shape, so that what is compared is measured close together.
func beside(all, more []rows.Row) []rows.Row {
	for _, r := range more {
		at := len(all)
		for i, other := range all {
			if other.SameShape(r) {
				at = i + 1
			}
		}
		all = slices.Insert(all, at, r)
	}
	return all
}

// describe is what the report says of the peers.
func describe(peers []Peer) []report.Peer {
	var list []report.Peer
	for _, p := range peers {
		list = append(list, report.Peer{Target: string(p.Target), Label: p.Label, Version: p.Version, Missing: p.Missing})
	}
	return list
}
