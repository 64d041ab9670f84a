package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	rsredis "github.com/go-redsync/redsync/v4/redis"
	rsgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	rsredigo "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

// redsync is a library: its clients are goroutines of one process and share a pool of connections to each node, large enough that
// nobody ever waits for one: redigo's are not limited, go-redis has a connection for each client, and all of them stand before the
// row begins.
//
// How long a node has for a connection or an answer: with nothing broken as long as redsync itself waits for all of them, a
// twentieth of the expiry. With that a stopped node would stop everybody for 1.5 s; so where a node is broken it has 50 ms, as a
// careful user sets it. A healthy node that a thousand clients keep busy does not always answer in 50 ms.
const (
	patientTimeout = expiry / 20
	carefulTimeout = 50 * time.Millisecond
)

func nodeTimeout(fault rows.Fault) time.Duration {
	if fault == rows.Healthy {
		return patientTimeout
	}
	return carefulTimeout
}

// pools are the connections of one row to all nodes.
type pools struct {
	nodes []rsredis.Pool
	end   []func() error
}

func (p *pools) close() error {
	var errs []error
	for _, end := range p.end {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func redigoPools(ctx context.Context, addrs []string, clients int, limit time.Duration) (*pools, error) {
	p := new(pools)
	for _, addr := range addrs {
		pool := &redis.Pool{MaxIdle: 2 * clients, Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", addr, redis.DialConnectTimeout(limit), redis.DialReadTimeout(limit),
				redis.DialWriteTimeout(limit))
		}}
		p.nodes, p.end = append(p.nodes, rsredigo.NewPool(pool)), append(p.end, pool.Close)
		if err := connect(clients, func() (ping func() error, back func() error, err error) {
			conn, err := pool.GetContext(ctx)
			return func() error { _, err := conn.Do("PING"); return err }, conn.Close, err
		}); err != nil {
			return p, fmt.Errorf("redigo to %s: %w", addr, err)
		}
	}
	return p, nil
}

// What go-redis has to say about a node that we have broken would fill the screen.
func init() { logging.Disable() }

// goredisPools: no retries, because a take that is sent twice refuses itself, and one try to connect, as with redigo.
func goredisPools(ctx context.Context, addrs []string, clients int, limit time.Duration) (*pools, error) {
	p := new(pools)
	for _, addr := range addrs {
		client := goredis.NewClient(&goredis.Options{
			Addr: addr, PoolSize: clients, MaxIdleConns: clients, MaxRetries: -1, DialerRetries: 1,
			DialTimeout: limit, ReadTimeout: limit, WriteTimeout: limit,
		})
		p.nodes, p.end = append(p.nodes, rsgoredis.NewPool(client)), append(p.end, client.Close)
		if err := connect(clients, func() (ping func() error, back func() error, err error) {
			conn := client.Conn()
			return func() error { return conn.Ping(ctx).Err() }, conn.Close, nil
		}); err != nil {
			return p, fmt.Errorf("go-redis to %s: %w", addr, err)
		}
	}
	return p, nil
}

// connectTries: on a machine that just started five servers, 50 ms are soon over, and that must not end the run.
const connectTries = 20

// connect takes n connections out of a pool, sees that each works, and gives them back: now the pool has that many.
func connect(n int, get func() (ping, back func() error, err error)) (err error) {
	var backs []func() error
	defer func() {
		for _, back := range backs {
			err = errors.Join(err, back())
		}
	}()
	for range n {
		for try := 1; ; try++ {
			ping, back, err := get()
			if err == nil {
				if err = ping(); err == nil {
					backs = append(backs, back)
					break
				}
				err = errors.Join(err, back())
			}
			if try == connectTries {
				return err
			}
		}
	}
	return nil
}

// redsyncClient is one goroutine that takes locks.
type redsyncClient struct {
	rs      *redsync.Redsync
	work    load.Work
	options []redsync.Option
	keys    keys
	sample  *sample
	granted uint64
	wrong   string
}

var _ load.Tally = (*redsyncClient)(nil)

func newRedsyncClient(p *pools, work load.Work, failFast bool, k keys, s *sample) (*redsyncClient, error) {
	c := &redsyncClient{rs: redsync.New(p.nodes...), work: work, keys: k, sample: s, options: []redsync.Option{
		redsync.WithExpiry(expiry), redsync.WithTries(1), redsync.WithFailFast(failFast),
	}}
	if work == load.Refused {
		holder := c.rs.NewMutex(k.own(), c.options...)
		if err := holder.Lock(); err != nil {
			return nil, err
		}
		s.last = held{key: holder.Name(), token: holder.Value()}
	}
	return c, nil
}

// Step implements load.Worker: one lock.
func (c *redsyncClient) Step() (good, bad int, err error) {
	mutex := c.rs.NewMutex(c.keys.of(c.work), c.options...)
	err = mutex.Lock()
	if refused := isRefusal(err); c.work == load.Refused {
		if !refused {
			return 0, c.failed("a take of what another holds", err), nil
		}
		c.sample.got++
		return 1, 0, nil
	} else if c.work == load.Contended && refused {
		return 1, 0, nil
	}
	if err != nil {
		return 0, c.failed("take", err), nil
	}
	if c.work == load.Take {
		c.sample.note(held{key: mutex.Name(), token: mutex.Value()})
		return 1, 0, nil
	}
	c.granted++
	if ok, err := mutex.Unlock(); !ok {
		return 0, c.failed("release", err), nil
	}
	c.sample.note(held{key: mutex.Name(), released: true})
	return 1, 0, nil
}

// isRefusal: nodes said that somebody else has it, and no node failed.
func isRefusal(err error) bool {
	var failed *redsync.RedisError
	var taken *redsync.ErrTaken
	var nodeTaken *redsync.ErrNodeTaken
	return !errors.As(err, &failed) && (errors.As(err, &taken) || errors.As(err, &nodeTaken))
}

// failed counts a wrong answer; the client goes on, since the pools replace what is broken.
func (c *redsyncClient) failed(what string, err error) (bad int) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf("%s: %v", what, err)
	}
	return 1
}

// Granted implements load.Tally.
func (c *redsyncClient) Granted() uint64 { return c.granted }

// Wrong implements load.Worker.
func (c *redsyncClient) Wrong() string { return c.wrong }

// Close implements load.Worker. The pools are the row's, and their limits end what hangs.
func (c *redsyncClient) Close() error { return nil }
