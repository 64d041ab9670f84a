//go:build !old

package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	rsredis "github.com/go-redsync/redsync/v4/redis"
	rsgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	rsredigo "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

const redsyncModule = "github.com/go-redsync/redsync/v4"

func init() {
	libraries = append(libraries,
		library{name: "redsync", module: redsyncModule, how: "redigo", key: "%s", open: func(addr string) (opened, error) {
			pool := &redis.Pool{Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) }, MaxIdle: workers}
			return openRedsync(rsredigo.NewPool(pool), pool.Close), nil
		}},
		library{name: "redsync", module: redsyncModule, how: "go-redis", key: "%s", open: func(addr string) (opened, error) {
			client := goredis.NewClient(&goredis.Options{Addr: addr})
			return openRedsync(rsgoredis.NewPool(client), client.Close), nil
		}},
	)
}

func openRedsync(pool rsredis.Pool, end func() error) opened {
	rs := redsync.New(pool)
	return opened{
		lock: func(name string, ttl time.Duration) handle {
			return &redsyncLock{rs, rs.NewMutex(name, patiently(ttl)...)}
		},
		close: func() { end() },
	}
}

// patiently: redsync gives up a lock for which it was not answered within a twentieth of its ttl, which a busy machine may take.
func patiently(ttl time.Duration) []redsync.Option {
	return []redsync.Option{redsync.WithExpiry(ttl), redsync.WithTimeoutFactor(0.9)}
}

type redsyncLock struct {
	*redsync.Redsync
	*redsync.Mutex
}

func (l *redsyncLock) take(ctx context.Context) (bool, error) {
	err := l.TryLockContext(ctx)
	if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

func (l *redsyncLock) release(ctx context.Context) error {
	_, err := l.UnlockContext(ctx)
	if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) || errors.Is(err, redsync.ErrLockAlreadyExpired) {
		return errRefused
	}
	return err
}

// extend by a second handle with the same token: a mutex has one ttl for life.
func (l *redsyncLock) extend(ctx context.Context, ttl time.Duration) error {
	again := l.NewMutex(l.Name(), append(patiently(ttl), redsync.WithValue(l.Value()))...)
	_, err := again.ExtendContext(ctx)
	return err
}
