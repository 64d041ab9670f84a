package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/redis/rueidis/rueidislock"

	"redlockd/bench/load"
	"redlockd/bench/measure"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// peers are all of them, those that must be left out too.
func peers(stderr io.Writer) ([]measure.Peer, error) {
	root, err := servers.ModuleRoot()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "bench", "peers")
	redsync := module("github.com/go-redsync/redsync/v4")
	const how = ", one try, nobody waits for a connection, %v a node where one is broken"
	overRedigo := redsync + ", redigo " + module("github.com/gomodule/redigo") + fmt.Sprintf(how, carefulTimeout)
	overGoRedis := redsync + ", go-redis " + module("github.com/redis/go-redis/v9") + fmt.Sprintf(how, carefulTimeout)
	list := []measure.Peer{
		redsyncPeer(overRedigo, redigoPools, false, measure.Peer{
			Target: rows.RedsyncRedigo, Label: "redsync, redigo",
			Rows: slices.Concat(
				row(load.Take, fleet, 1, 10, 50, 200, 1000), broken(fleet, faults...), row(load.Cycle, fleet, 50),
				row(load.Refused, fleet, 50), row(load.Contended, fleet, 50), open(50, row(load.Take, fleet, 50)), open(50, broken(fleet, faults...)),
			),
			More: slices.Concat(row(load.Cycle, fleet, 1, 10, 200, 1000), open(25, row(load.Take, fleet, 50)), open(75, row(load.Take, fleet, 50))),
		}),
		redsyncPeer(overRedigo, redigoPools, true, measure.Peer{
			Target: "redsync-failfast", Label: "redsync with fail-fast",
			Rows: slices.Concat(row(load.Take, fleet, 50), broken(fleet, rows.Stopped)),
			More: slices.Concat(row(load.Take, fleet, 1, 10, 200, 1000), broken(fleet, faults[1:]...)),
		}),
		redsyncPeer(overGoRedis, goredisPools, false, measure.Peer{
			Target: rows.RedsyncGoRedis, Label: "redsync, go-redis",
			Rows: slices.Concat(row(load.Take, fleet, 1, 50, 200), broken(fleet, rows.Stopped), row(load.Cycle, fleet, 50)),
			More: slices.Concat(row(load.Take, fleet, 10, 1000), broken(fleet, faults[1:]...), row(load.Cycle, fleet, 1), row(load.Refused, fleet, 50)),
		}),
		redlockPeer(dir, stderr, measure.Peer{
			Target: "redlock-node", Label: "redlock for Node.js",
			Rows: slices.Concat(row(load.Take, fleet, 1, 50, 200), broken(fleet, rows.Stopped), row(load.Cycle, fleet, 50)),
			More: slices.Concat(row(load.Take, fleet, 10, 1000), broken(fleet, faults[1:]...), row(load.Refused, fleet, 50), row(load.Contended, fleet, 50)),
		}),
		rueidisPeer(1, measure.Peer{
			Target: "rueidislock", Label: "rueidislock, one key",
			Rows: row(load.Cycle, 1, 50), More: row(load.Cycle, 1, 1, 10, 200, 1000),
		}),
		rueidisPeer(2, measure.Peer{
			Target: "rueidislock-3keys", Label: "rueidislock, two of three keys",
			Rows: row(load.Cycle, 1, 50), More: row(load.Cycle, 1, 1, 10, 200, 1000),
		}),
		twemproxyPeer(measure.Peer{
			Target: rows.Twemproxy, Label: "twemproxy",
			Rows: slices.Concat(row(load.Take, 1, 1, 50, 200, 1000), piped(1, 16, 64)),
			More: slices.Concat(row(load.Take, 1, 10), row(load.CycleEval, 1, 50), row(load.Get, 1, 50)),
		}),
		etcdPeer(measure.Peer{
			Target: "etcd", Label: fmt.Sprintf("etcd, %d members", etcdMembers),
			Rows: slices.Concat(row(load.Take, 0, 1, 50, 200), row(load.Cycle, 0, 50)),
			More: slices.Concat(row(load.Take, 0, 10), row(load.Cycle, 0, 1)),
		}),
	}
	for i := range list {
		for _, set := range [][]rows.Row{list[i].Rows, list[i].More} {
			for j := range set {
				set[j].Target = list[i].Target
			}
		}
	}
	return list, nil
}

// fleet is the number of nodes that the goals are about, and how many of them a lock needs.
const (
	fleet    = 5
	majority = fleet/2 + 1
)

// faults are those that a client which talks to the nodes itself sees like redlockd does.
var faults = []rows.Fault{rows.Stopped, rows.Slow, rows.Dead, rows.Restarting}

// row is rows of one kind of work, not pipelined, by so many clients.
func row(work load.Work, nodes int, clients ...int) []rows.Row {
	var list []rows.Row
	for _, c := range clients {
		list = append(list, rows.Row{Nodes: nodes, Work: work, Clients: c, Pipeline: 1, Generator: rows.Own})
	}
	return list
}

// broken is takes by fifty clients, with each of these faults.
func broken(nodes int, faults ...rows.Fault) []rows.Row {
	var list []rows.Row
	for _, f := range faults {
		r := row(load.Take, nodes, 50)[0]
		r.Fault = f
		list = append(list, r)
	}
	return list
}

// piped is takes by fifty clients, in such pipelines.
func piped(nodes int, depths ...int) []rows.Row {
	var list []rows.Row
	for _, d := range depths {
		r := row(load.Take, nodes, 50)[0]
		r.Pipeline = d
		list = append(list, r)
	}
	return list
}

// open is these rows in an open loop, at such a percentage of the rate of the closed one.
func open(share int, list []rows.Row) []rows.Row {
	for i := range list {
		list[i].Open = share
	}
	return list
}

// What the peers below keep between Start and Check belongs to one row; rows are measured one after the other.

// connector opens redsync's pools.
type connector func(ctx context.Context, addrs []string, clients int, limit time.Duration) (*pools, error)

func redsyncPeer(version string, connect connector, failFast bool, peer measure.Peer) measure.Peer {
	var to *pools
	var s *samples
	peer.Version = version
	peer.Start = func(ctx context.Context, stage *measure.Stage) (running measure.Running, err error) {
		s = new(samples)
		to, err = connect(ctx, stage.Addrs, stage.Row.Clients, nodeTimeout(stage.Row.Fault))
		return measure.Running{Close: to.close}, err
	}
	peer.Dial = func(stage *measure.Stage, client int) (load.Worker, error) {
		return newRedsyncClient(to, stage.Row.Work, failFast, keys{client: client}, s.client())
	}
	peer.Check = func(_ context.Context, stage *measure.Stage) error {
		return s.checkOn(stage.Nodes, proof(stage.Row.Work), majority)
	}
	return peer
}

func redlockPeer(dir string, stderr io.Writer, peer measure.Peer) measure.Peer {
	if peer.Missing = missing(node); peer.Missing != "" {
		return peer
	}
	if err := installModules(dir, stderr); err != nil {
		peer.Missing = err.Error()
		return peer
	}
	peer.Version = packages(dir) + ", Node.js " + says(node.find(), "--version")
	var s *samples
	var program *servers.Program
	peer.Start = func(_ context.Context, stage *measure.Stage) (running measure.Running, err error) {
		s = new(samples)
		if program, err = startRedlock(dir, stage.Addrs); err != nil {
			return running, err
		}
		return measure.Running{Pids: []int{program.Pid()}, Close: program.Close}, nil
	}
	peer.Load = func(ctx context.Context, stage *measure.Stage, plan load.Plan) (load.Result, error) {
		return redlockLoad(ctx, program.Addr, plan, stage.Row.Work, s)
	}
	peer.Check = func(_ context.Context, stage *measure.Stage) error {
		command := proof(stage.Row.Work)
		if stage.Row.Work == load.Refused {
			command = "exists" // its script asks before it takes
		}
		return s.checkOn(stage.Nodes, command, majority)
	}
	return peer
}

func rueidisPeer(keyMajority int32, peer measure.Peer) measure.Peer {
	var locker rueidislock.Locker
	var s *samples
	peer.Version = module("github.com/redis/rueidis") + ", on its own over one Redis"
	peer.Start = func(_ context.Context, stage *measure.Stage) (running measure.Running, err error) {
		s = new(samples)
		if locker, err = newLocker(stage.Addrs[0], keyMajority); err != nil {
			return running, err
		}
		return measure.Running{Close: func() error { locker.Close(); return nil }}, nil
	}
	peer.Dial = func(_ *measure.Stage, client int) (load.Worker, error) {
		return &rueidisClient{locker: locker, keys: keys{client: client}, sample: s.client()}, nil
	}
	peer.Check = func(_ context.Context, stage *measure.Stage) error {
		return s.checkOn(stage.Nodes, proof(stage.Row.Work), uint64(keyMajority))
	}
	return peer
}

// twemproxyPeer is measured by the engine's own clients, which check each answer; so there is nothing to check afterwards.
func twemproxyPeer(peer measure.Peer) measure.Peer {
	if peer.Missing = missing(nutcracker); peer.Missing != "" {
		return peer
	}
	peer.Version = says(nutcracker.find(), "--version")
	peer.Start = func(_ context.Context, stage *measure.Stage) (running measure.Running, err error) {
		program, err := startTwemproxy(stage.Dir, nutcracker.find(), stage.Addrs)
		if err != nil {
			return running, err
		}
		return measure.Running{Addr: program.Addr, Pids: []int{program.Pid()}, Close: program.Close}, nil
	}
	return peer
}

func etcdPeer(peer measure.Peer) measure.Peer {
	if peer.Missing = missing(etcdServer); peer.Missing != "" {
		return peer
	}
	peer.Version = says(etcdServer.find(), "--version") + ", writing to disk, its Go client " + module("go.etcd.io/etcd/client/v3")
	var e *etcd
	var s *samples
	peer.Start = func(_ context.Context, stage *measure.Stage) (running measure.Running, err error) {
		s = new(samples)
		if e, err = startEtcd(stage.Dir); err != nil {
			return running, err
		}
		return measure.Running{Pids: e.pids(), Close: e.close}, nil
	}
	peer.Dial = func(stage *measure.Stage, client int) (load.Worker, error) {
		return e.dial(stage.Row.Work, keys{client: client}, s.client())
	}
	peer.Check = func(context.Context, *measure.Stage) error { return e.check(s) }
	return peer
}
