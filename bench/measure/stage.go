package measure

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlockd/bench/resp"
	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

// grantLimit is how long a fresh fleet may take until it grants locks: redlockd connects in the background.
const grantLimit = 30 * time.Second

// Stage is the servers of one row. Every row has fresh ones: no keys, expiries or debts of the row before, and no flush
// under a running redlockd, to which it is a node that forgets.
type Stage struct {
	Row   rows.Row
	Dir   string // for what a peer keeps in files; removed at the end of the run
	Nodes []*servers.Redis
	Addrs []string // of the nodes, as whoever locks on them must dial them: on the way to a node that a fault makes slow stands a forwarder

	proxy   *servers.Proxy
	fault   fault
	running Running // what answers the clients: redlockd, a peer, or nothing but the first node
}

func (b *bench) setUp(ctx context.Context, row rows.Row) (s *Stage, err error) {
	s = &Stage{Row: row, Dir: b.dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.Nodes, err = servers.StartFleet(b.dir, row.Nodes); err != nil {
		return s, err
	}
	for _, n := range s.Nodes {
		s.Addrs = append(s.Addrs, n.Addr)
	}
	if err = s.prepare(); err != nil {
		return s, err
	}
	if len(s.Addrs) > 0 {
		s.running.Addr = s.Addrs[0]
	}
	if peer := b.peer(row); peer != nil && peer.Start != nil {
		s.running, err = peer.Start(ctx, s)
		return s, err
	}
	if row.Target == rows.Redlockd {
		err = b.startRedlockd(ctx, s)
	}
	return s, err
}

// startRedlockd starts it over the stage's nodes and waits until it grants locks.
func (b *bench) startRedlockd(ctx context.Context, s *Stage) (err error) {
	binary := b.binary
	if s.Row.Fault == rows.Unwatched {
		binary = b.unwatched
	}
	args := append([]string{"--nodes", strings.Join(s.Addrs, ",")}, append(idleFlags(s.Row), b.redlockdFlags...)...)
	if s.proxy, err = servers.StartRedlockd(binary, args...); err != nil {
		return err
	}
	s.running = Running{Addr: s.proxy.Addr, Pids: []int{s.proxy.Pid()}, Close: s.proxy.Close}
	if err := s.awaitGrant(ctx); err != nil {
		return fmt.Errorf("%w\nits log:\n%s", err, s.proxy.Log())
	}
	if s.Row.Fault == rows.Taught { // now: a fleet that is new and not empty would share all of it first
		if b.quick {
			return s.fill(oldLocksQuick)
		}
		return s.fill(oldLocks)
	}
	return nil
}

// What a taught node is taught.
const (
	oldLocks      = 1_000_000
	oldLocksQuick = 20_000
	oldLocksPiece = 20_000 // at a time: a node that runs a script does nothing else
	fillLimit     = 10 * time.Second
)

// fill every node with locks that nobody releases.
func (s *Stage) fill(locks int) error {
	errs := make([]error, len(s.Nodes))
	var wg sync.WaitGroup
	for i, n := range s.Nodes {
		wg.Go(func() { errs[i] = fillNode(n, locks) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func fillNode(n *servers.Redis, locks int) error {
	script := "for i = ARGV[1], ARGV[1] + " + strconv.Itoa(oldLocksPiece-1) + " do redis.call('SET', 'old:' .. i, 'bench', 'PX', 3600000) end"
	for at := 0; at < locks; at += oldLocksPiece {
		if _, err := resp.Do(n.Addr, fillLimit, "EVAL", script, "0", strconv.Itoa(at)); err != nil {
			return fmt.Errorf("filling a node: %w", err)
		}
	}
	return nil
}

// awaitGrant waits until redlockd has its nodes and grants a lock.
func (s *Stage) awaitGrant(ctx context.Context) error {
	deadline := time.Now().Add(grantLimit)
	for i := 0; ; i++ {
		reply, err := resp.Do(s.running.Addr, time.Second, "SET", "probe:"+strconv.Itoa(i), "bench", "NX", "PX", "1000")
		if err == nil && reply.Text == "OK" {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redlockd grants no lock within %v of its start: %s, %w", grantLimit, reply, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *Stage) close() error {
	errs := []error{s.fault.end()}
	if s.running.Close != nil {
		errs = append(errs, s.running.Close())
	}
	for _, n := range s.Nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
