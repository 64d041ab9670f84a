package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"
)

const redislockModule = "github.com/bsm/redislock"

// libraries that this program was built with; built with the tag old, it has old.mod's redislock alone.
var libraries = []library{{name: "redislock", module: redislockModule, how: "go-redis", key: "%s", open: openRedislock}}

func openRedislock(addr string) (opened, error) {
	client := goredis.NewClient(&goredis.Options{Addr: addr})
	locker := redislock.New(client)
	return opened{
		lock: func(name string, ttl time.Duration) handle {
			return &redislockLock{obtain: func(ctx context.Context) (*redislock.Lock, error) {
				return locker.Obtain(ctx, name, ttl, &redislock.Options{Metadata: "of " + name})
			}}
		},
		close: func() { client.Close() },
	}, nil
}

type redislockLock struct {
	obtain func(context.Context) (*redislock.Lock, error)
	lock   *redislock.Lock
}

func (l *redislockLock) take(ctx context.Context) (bool, error) {
	lock, err := l.obtain(ctx)
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	l.lock = lock
	return err == nil, err
}

func (l *redislockLock) release(ctx context.Context) error {
	err := l.lock.Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return errRefused
	}
	return err
}

func (l *redislockLock) extend(ctx context.Context, ttl time.Duration) error {
	if err := l.lock.Refresh(ctx, ttl, nil); err != nil {
		return err
	}
	left, err := l.lock.TTL(ctx)
	if err == nil && left < ttl/2 {
		err = errors.New("its TTL is " + left.String())
	}
	return err
}
