package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"redlockd/bench/load"
	"redlockd/bench/servers"
)

// etcdMembers is the smallest cluster that survives a failure.
const etcdMembers = 3

// answerLimit is for one answer of a peer that is not broken. It only has to end what hangs.
const answerLimit = load.Grace

// etcd is a cluster of etcd on this machine, as Debian's package starts it: each member writes to disk, and waits for the disk,
// before it agrees. That is what a lock service which remembers costs, and what redlockd does not promise.
type etcd struct {
	dir       string // of its own, since each member begins with a log of 64 MB
	members   []*servers.Program
	endpoints []string
}

func startEtcd(dir string) (*etcd, error) {
	peers := make([]string, etcdMembers) // how they reach each other
	cluster := make([]string, etcdMembers)
	for i := range peers {
		port, err := servers.FreePort()
		if err != nil {
			return nil, err
		}
		peers[i] = "http://127.0.0.1:" + strconv.Itoa(port)
		cluster[i] = fmt.Sprintf("m%d=%s", i, peers[i])
	}
	own, err := os.MkdirTemp(dir, "etcd-")
	if err != nil {
		return nil, err
	}
	e := &etcd{dir: own, members: make([]*servers.Program, etcdMembers)}
	errs := make([]error, etcdMembers)
	var wg sync.WaitGroup
	for i := range peers { // all at once: none is ready before a majority is
		wg.Go(func() {
			e.members[i], errs[i] = servers.StartProgram(own, "etcd", func(port int) []string {
				client := "http://127.0.0.1:" + strconv.Itoa(port)
				return []string{
					"--name", fmt.Sprintf("m%d", i), "--data-dir", filepath.Join(own, strconv.Itoa(port)),
					"--listen-client-urls", client, "--advertise-client-urls", client,
					"--listen-peer-urls", peers[i], "--initial-advertise-peer-urls", peers[i],
					"--initial-cluster", strings.Join(cluster, ","), "--logger", "zap", "--log-level", "error",
				}
			}, etcdReady)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, e.close())
	}
	for _, m := range e.members {
		e.endpoints = append(e.endpoints, m.Addr)
	}
	return e, nil
}

// etcdReady: this member answers, and a majority agrees to what it says.
func etcdReady(addr string) error {
	client, err := etcdConnect([]string{addr})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	_, err = client.Get(ctx, "probe")
	return errors.Join(err, client.Close())
}

func etcdConnect(endpoints []string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: answerLimit, Logger: zap.NewNop()})
}

func (e *etcd) close() error {
	var errs []error
	for _, m := range e.members {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errors.Join(errs...), os.RemoveAll(e.dir))
}

func (e *etcd) pids() []int {
	var pids []int
	for _, m := range e.members {
		pids = append(pids, m.Pid())
	}
	return pids
}

// etcdClient has a connection and a session of its own. Its locks live as long as its session.
type etcdClient struct {
	client  *clientv3.Client
	session *concurrency.Session
	work    load.Work
	keys    keys
	sample  *sample
	wrong   string
}

// dial connects a client to one member; the clients spread over all.
func (e *etcd) dial(work load.Work, k keys, s *sample) (load.Worker, error) {
	at := k.client % len(e.endpoints)
	client, err := etcdConnect(e.endpoints[at : at+1])
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(expiry.Seconds())))
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &etcdClient{client: client, session: session, work: work, keys: k, sample: s}, nil
}

// Step implements load.Worker.
func (c *etcdClient) Step() (good, bad int, err error) {
	ctx, cancel := context.WithTimeout(c.client.Ctx(), answerLimit)
	defer cancel()
	mutex := concurrency.NewMutex(c.session, c.keys.next())
	if err := mutex.TryLock(ctx); err != nil {
		return 0, c.failed("take", err), nil
	}
	if c.work == load.Take {
		c.sample.note(held{key: mutex.Key()})
		return 1, 0, nil
	}
	key := mutex.Key() // Unlock forgets it
	if err := mutex.Unlock(ctx); err != nil {
		return 0, c.failed("release", err), nil
	}
	c.sample.note(held{key: key, released: true})
	return 1, 0, nil
}

func (c *etcdClient) failed(what string, err error) (bad int) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf("%s: %v", what, err)
	}
	return 1
}

// Wrong implements load.Worker.
func (c *etcdClient) Wrong() string { return c.wrong }

// Close implements load.Worker. The session is left to its lease, since the servers end with the row, and because its locks
// are looked for after the load.
func (c *etcdClient) Close() error {
	c.session.Orphan()
	return c.client.Close()
}

// check looks whether the sampled locks stand, by a read that a majority of the members must agree to.
func (e *etcd) check(s *samples) (err error) {
	client, err := etcdConnect(e.endpoints)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return s.check(func(h held) (bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
		defer cancel()
		found, err := client.Get(ctx, h.key, clientv3.WithCountOnly())
		if err != nil {
			return false, err
		}
		return found.Count == 1, nil
	})
}
