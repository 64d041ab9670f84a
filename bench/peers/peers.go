package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
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
	redsyncVersion := module("github.com/go-redsync/redsync/v4")
	overRedigo := redsyncVersion + ", redigo " + module("github.com/gomodule/redigo")
	list := []measure.Peer{
		redsyncPeer("redsync-redigo", "redsync, redigo pools", overRedigo, redigoPools, false, lock(fleet, 1, 10, 50, 200, 1000).broken(allFaults...).cycles(1, 50)),
		redsyncPeer("redsync-failfast", "redsync with fail-fast, redigo", overRedigo, redigoPools, true, lock(fleet, 50).broken(rows.Stopped)),
		redsyncPeer("redsync-goredis", "redsync, go-redis", redsyncVersion+", go-redis "+module("github.com/redis/go-redis/v9"), goredisPools, false,
			lock(fleet, 1, 50, 200).broken(rows.Stopped).cycles(50)),
		redlockPeer(dir, stderr, lock(fleet, 1, 50, 200).broken(rows.Stopped).cycles(50)),
		rueidisPeer("rueidislock", "rueidislock, one key", 1, lock(1).cycles(1, 50)),
		rueidisPeer("rueidislock-3keys", "rueidislock, two of three keys", 2, lock(1).cycles(1, 50)),
		twemproxyPeer(lock(1, 1, 10, 50, 200, 1000).pipelined(50, 16, 64)),
		etcdPeer(lock(0, 1, 50, 200).cycles(50)),
	}
	for i := range list {
		for j := range list[i].Rows {
			list[i].Rows[j].Target = list[i].Target
		}
	}
	return list, nil
}

// fleet is the number of nodes that the goals are about, and how many of them a lock needs.
const (
	fleet    = 5
	majority = fleet/2 + 1
)

// allFaults are those that a client which talks to the nodes itself sees like redlockd.
var allFaults = []rows.Fault{rows.Stopped}

// plan is which rows of a peer are measured. Only what something else in the table is compared with, since the whole run is not to
// take longer than people wait.
type plan []rows.Row

// lock: takes, not pipelined, by so many clients.
func lock(nodes int, clients ...int) plan {
	p := plan{{Nodes: nodes, Work: load.Take, Clients: 0, Pipeline: 1, Generator: rows.Own}} // what the others are made from
	for _, c := range clients {
		r := p[0]
		r.Clients = c
		p = append(p, r)
	}
	return p
}

// broken: takes by fifty clients, with each of these faults.
func (p plan) broken(faults ...rows.Fault) plan {
	for _, f := range faults {
		r := p[0]
		r.Clients, r.Fault = 50, f
		p = append(p, r)
	}
	return p
}

// cycles: take and release.
func (p plan) cycles(clients ...int) plan {
	for _, c := range clients {
		r := p[0]
		r.Clients, r.Work = c, load.Cycle
		p = append(p, r)
	}
	return p
}

// pipelined: takes in such pipelines.
func (p plan) pipelined(clients int, depths ...int) plan {
	for _, d := range depths {
		r := p[0]
		r.Clients, r.Pipeline = clients, d
		p = append(p, r)
	}
	return p
}

// What the peers below keep between Start and Check belongs to one row; rows are measured one after the other.

// connector opens redsync's pools.
type connector func(ctx context.Context, addrs []string, clients int, limit time.Duration) (*pools, error)

func redsyncPeer(target rows.Target, label, version string, connect connector, failFast bool, p plan) measure.Peer {
	var to *pools
	var s *samples
	return measure.Peer{
		Target: target, Label: label, Version: version, Rows: p[1:],
		Start: func(ctx context.Context, stage *measure.Stage) (running measure.Running, err error) {
			s = new(samples)
			to, err = connect(ctx, stage.Addrs, stage.Row.Clients, nodeTimeout(stage.Row.Fault))
			return measure.Running{Close: to.close}, err
		},
		Dial: func(stage *measure.Stage, client int) (load.Worker, error) {
			return newRedsyncClient(to, stage.Row.Work, failFast, keys{client: client}, s.client()), nil
		},
		Check: func(_ context.Context, stage *measure.Stage) error {
			return s.checkOn(stage.Nodes, stage.Row.Work, majority)
		},
	}
}

func redlockPeer(dir string, stderr io.Writer, p plan) measure.Peer {
	peer := measure.Peer{Target: "redlock-node", Label: "redlock for Node.js", Rows: p[1:], Missing: missing(node)}
	if peer.Missing != "" {
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
		return redlockLoad(ctx, program.Addr, plan, stage.Row.Work == load.Cycle, s)
	}
	peer.Check = func(_ context.Context, stage *measure.Stage) error {
		return s.checkOn(stage.Nodes, stage.Row.Work, majority)
	}
	return peer
}

func rueidisPeer(target rows.Target, label string, keyMajority int32, p plan) measure.Peer {
	var locker rueidislock.Locker
	var s *samples
	return measure.Peer{
		Target: target, Label: label, Version: module("github.com/redis/rueidis"), Rows: p[1:],
		Start: func(_ context.Context, stage *measure.Stage) (running measure.Running, err error) {
			s = new(samples)
			if locker, err = newLocker(stage.Addrs[0], keyMajority); err != nil {
				return running, err
			}
			return measure.Running{Close: func() error { locker.Close(); return nil }}, nil
		},
		Dial: func(_ *measure.Stage, client int) (load.Worker, error) {
			return &rueidisClient{locker: locker, keys: keys{client: client}, sample: s.client()}, nil
		},
		Check: func(_ context.Context, stage *measure.Stage) error {
			return s.checkOn(stage.Nodes, stage.Row.Work, uint64(keyMajority))
		},
	}
}

// twemproxyPeer is measured by the engine's own clients, which check each answer; so there is nothing to check afterwards.
func twemproxyPeer(p plan) measure.Peer {
	peer := measure.Peer{Target: "twemproxy", Label: "twemproxy", Rows: p[1:], Missing: missing(nutcracker)}
	if peer.Missing != "" {
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

func etcdPeer(p plan) measure.Peer {
	peer := measure.Peer{Target: "etcd", Label: fmt.Sprintf("etcd, %d members, writing to disk", etcdMembers), Rows: p[1:], Missing: missing(etcdServer)}
	if peer.Missing != "" {
		return peer
	}
	peer.Version = says(etcdServer.find(), "--version") + ", its Go client " + module("go.etcd.io/etcd/client/v3")
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
