//go:build !old

package main

import (
	"context"
	"errors"
	"time"

	"github.com/zeromicro/go-zero/core/breaker"
	"github.com/zeromicro/go-zero/core/logx"
	gozero "github.com/zeromicro/go-zero/core/stores/redis"
)

func init() {
	logx.Disable() // it logs to stdout
	libraries = append(libraries,
		library{name: "go-zero", module: "github.com/zeromicro/go-zero", how: "redis.RedisLock", key: "%s", open: openGozero})
}

func openGozero(addr string) (opened, error) {
	store, err := gozero.NewRedis(gozero.RedisConf{Host: addr, Type: gozero.NodeType})
	if err != nil {
		return opened{}, err
	}
	return opened{
		lock: func(name string, ttl time.Duration) handle {
			l := gozeroLock{gozero.NewRedisLock(store, name)}
			l.SetExpire(int(ttl / time.Second))
			return l
		},
		close: func() {}, // it keeps its clients for all
	}, nil
}

// pastBreaker asks again while go-zero's circuit breaker sends nothing: it takes NOSCRIPT for a failure, and so is opened by
// the first scripts of all checks at once.
func pastBreaker(ctx context.Context, ask func(context.Context) (bool, error)) (bool, error) {
	for {
		yes, err := ask(ctx)
		if !errors.Is(err, breaker.ErrServiceUnavailable) || ctx.Err() != nil {
			return yes, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

type gozeroLock struct{ *gozero.RedisLock }

func (l gozeroLock) take(ctx context.Context) (bool, error) {
	return pastBreaker(ctx, l.AcquireCtx)
}

func (l gozeroLock) release(ctx context.Context) error {
	was, err := pastBreaker(ctx, l.ReleaseCtx)
	if err == nil && !was {
		err = errRefused
	}
	return err
}

// extend: who holds it may take it again.
func (l gozeroLock) extend(ctx context.Context, ttl time.Duration) error {
	l.SetExpire(int(ttl / time.Second))
	return mustTake(ctx, l)
}
