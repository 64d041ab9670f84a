//go:build !old

package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"
)

// Several keys at once are new with redislock 0.10.
func init() {
	libraries = append(libraries, library{
		name: "redislock", module: redislockModule, how: "go-redis, three keys at once", key: "%s:3",
		open: func(addr string) (opened, error) {
			client := goredis.NewClient(&goredis.Options{Addr: addr})
			locker := redislock.New(client)
			return opened{
				lock: func(name string, ttl time.Duration) handle {
					keys := []string{name + ":1", name + ":2", name + ":3"}
					return &redislockLock{obtain: func(ctx context.Context) (*redislock.Lock, error) {
						return locker.ObtainMulti(ctx, keys, ttl, nil)
					}}
				},
				close: func() { client.Close() },
			}, nil
		},
	})
}
