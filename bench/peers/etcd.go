package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"redlockd/bench/load"
	"redlockd/bench/servers"
)

// etcdMembers is the smallest cluster that survives a failure.
const etcdMembers = 3

// answerLimit is for one answer of a peer that is not broken. It only has to end what hangs.
const answerLimit = 2 * time.Second

// etcd is a cluster of etcd on this machine, as Debian's package starts it: each member writes to disk, and waits for the disk,
// before it agrees. That is what a lock service which remembers costs, and what redlockd does not promise.
type etcd struct {
	members   []*servers.Program
	endpoints []string
}

func startEtcd(dir string) (*etcd, error) {
	var e *etcd
	err := servers.OnFreePorts(2*etcdMembers, func(addrs []string) (err error) {
		e = &etcd{endpoints: addrs[:etcdMembers]}
		defer func() {
			if err != nil {
				err = errors.Join(err, e.close())
			}
		}()
		peers := addrs[etcdMembers:]
		var cluster []string
		for i, p := range peers {
			cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, p))
		}
		for i := range etcdMembers {
			client, peer := "http://"+addrs[i], "http://"+peers[i]
			member, err := servers.StartProgram(dir, addrs[i], "etcd", "--name", fmt.Sprintf("m%d", i),
				"--data-dir", filepath.Join(dir, "etcd-"+strings.ReplaceAll(addrs[i], ":", "-")),
				"--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
				"--initial-cluster", strings.Join(cluster, ","), "--logger", "zap", "--log-level", "error")
			if err != nil {
				return err
			}
			e.members = append(e.members, member)
		}
		return e.await()
	})
	return e, err
}

// await waits until every member answers from the whole cluster's knowledge.
func (e *etcd) await() error {
	for i, m := range e.members {
		client, err := etcdConnect(e.endpoints[i : i+1])
		if err != nil {
			return err
		}
		err = m.Await(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
			defer cancel()
			_, err := client.Get(ctx, "probe")
			return err
		})
		if err = errors.Join(err, client.Close()); err != nil {
			return err
		}
	}
	return nil
}

func etcdConnect(endpoints []string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: answerLimit, Logger: zap.NewNop()})
}

func (e *etcd) close() error {
	var errs []error
	for _, m := range e.members {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
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
	samples *samples
	wrong   string
}

// dial connects a client to one member; the clients spread over all.
func (e *etcd) dial(work load.Work, k keys, s *samples) (load.Worker, error) {
	at := k.client % len(e.endpoints)
	client, err := etcdConnect(e.endpoints[at : at+1])
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(expiry.Seconds())))
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &etcdClient{client: client, session: session, work: work, keys: k, samples: s}, nil
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
		c.samples.note(c.keys.client, held{key: mutex.Key()})
		return 1, 0, nil
	}
	key := mutex.Key() // Unlock forgets it
	if err := mutex.Unlock(ctx); err != nil {
		return 0, c.failed("release", err), nil
	}
	c.samples.note(c.keys.client, held{key: key, released: true})
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
