package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"redlockd/bench/resp"
	"redlockd/bench/servers"
)

// nodes of the fleet: the size that the README recommends.
const nodes = 5

// grantLimit is how long a fresh fleet may take until it grants locks: redlockd connects in the background.
const grantLimit = 30 * time.Second

// patience is for a machine whose cores redlockd, five nodes and the suites share, with whatever is compiled beside them: there a
// round takes its time. The suites are about what is answered, not about how soon.
var patience = []string{"--node-timeout=1s", "--round-limit=3s"}

// stage is what the libraries work on.
type stage struct {
	dir   string
	nodes []*servers.Redis
	proxy *servers.Proxy
}

func setUp(ctx context.Context) (s *stage, err error) {
	s = new(stage)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "redlockd-clients-"); err != nil {
		return s, err
	}
	binary, err := servers.BuildRedlockd(s.dir)
	if err != nil {
		return s, err
	}
	if s.nodes, err = servers.StartFleet(s.dir, nodes); err != nil {
		return s, err
	}
	if s.proxy, err = servers.StartRedlockd(binary, append(patience, "--nodes", servers.Nodes(s.nodes))...); err != nil {
		return s, err
	}
	return s, s.awaitGrant(ctx)
}

// awaitGrant waits until redlockd has its nodes and grants a lock.
func (s *stage) awaitGrant(ctx context.Context) error {
	deadline := time.Now().Add(grantLimit)
	for i := 0; ctx.Err() == nil; i++ {
		reply, err := resp.Do(s.proxy.Addr, time.Second, "SET", "probe:"+strconv.Itoa(i), "clients", "NX", "PX", "1000")
		if err == nil && reply.Text == "OK" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redlockd grants no lock within %v of its start: %s, %w\nits log:\n%s", grantLimit, reply, err, s.proxy.Log())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ctx.Err()
}

// check says whether redlockd has lived through what it was sent.
func (s *stage) check() error {
	log := s.proxy.Log()
	select {
	case <-s.proxy.Done():
		return fmt.Errorf("redlockd has ended; its log:\n%s", log)
	default:
	}
	if strings.Contains(log, "panic") { // it logs those that it catches
		return fmt.Errorf("redlockd has caught a panic; its log:\n%s", log)
	}
	return nil
}

func (s *stage) close() error {
	var errs []error
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	for _, n := range s.nodes {
		errs = append(errs, n.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
