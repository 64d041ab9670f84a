//go:build !old

package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/valkey-io/valkey-go"
	"github.com/valkey-io/valkey-go/valkeylock"
)

// rueidislock and valkeylock are one text with two names: a lock is two of three keys, extended as long as it is held.

const (
	rueidisModule = "github.com/redis/rueidis"
	valkeyModule  = "github.com/valkey-io/valkey-go"
	caching       = "client-side caching (CLIENT TRACKING)"
	// perKey is how long they wait for an answer before they try the next key. Their own 20 ms are short for a busy machine.
	perKey = 5 * time.Second
)

func init() {
	libraries = append(libraries,
		library{name: "rueidislock", module: rueidisModule, how: "DisableCache", key: "rueidislock:0:%s", silent: true, keeps: true, open: openRueidis},
		library{name: "valkeylock", module: valkeyModule, how: "DisableCache", key: "valkeylock:0:%s", silent: true, keeps: true, open: openValkey},
		library{name: "rueidislock", module: rueidisModule, how: "with its cache", says: "cache", note: caching, refused: func(addr string) error {
			_, err := newRueidis(addr, long, false)
			return err
		}},
		library{name: "valkeylock", module: valkeyModule, how: "with its cache", says: "cache", note: caching, refused: func(addr string) error {
			_, err := newValkey(addr, long, false)
			return err
		}},
	)
}

// interval between two extensions. A lock that is left to its end must not be extended.
func interval(ttl time.Duration) time.Duration {
	if ttl == short {
		return time.Hour
	}
	return ttl / 6
}

func newRueidis(addr string, ttl time.Duration, plain bool) (rueidislock.Locker, error) {
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: plain},
		KeyValidity:  ttl, ExtendInterval: interval(ttl), TryNextAfter: perKey,
	})
}

func newValkey(addr string, ttl time.Duration, plain bool) (valkeylock.Locker, error) {
	return valkeylock.NewLocker(valkeylock.LockerOption{
		ClientOption: valkey.ClientOption{InitAddress: []string{addr}, DisableCache: plain},
		KeyValidity:  ttl, ExtendInterval: interval(ttl), TryNextAfter: perKey,
	})
}

func openRueidis(addr string) (opened, error) {
	return openLockers(func(ttl time.Duration) (locker, error) { return newRueidis(addr, ttl, true) }, rueidislock.ErrNotLocked)
}

func openValkey(addr string) (opened, error) {
	return openLockers(func(ttl time.Duration) (locker, error) { return newValkey(addr, ttl, true) }, valkeylock.ErrNotLocked)
}

// locker is what both have.
type locker interface {
	TryWithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error)
	Close()
}

// openLockers makes one for each ttl that the checks use.
func openLockers(open func(ttl time.Duration) (locker, error), notLocked error) (opened, error) {
	lockers := map[time.Duration]locker{}
	for _, ttl := range []time.Duration{long, short, keptFor} {
		l, err := open(ttl)
		if err != nil {
			return opened{}, err
		}
		lockers[ttl] = l
	}
	return opened{
		lock: func(name string, ttl time.Duration) handle {
			return &asideLock{locker: lockers[ttl], name: name, notLocked: notLocked}
		},
		close: func() {
			for _, l := range lockers {
				l.Close()
			}
		},
	}, nil
}

type asideLock struct {
	locker
	name      string
	notLocked error
	end       context.CancelFunc
}

// take is not bound to the caller's context, since the lock is.
func (l *asideLock) take(context.Context) (bool, error) {
	_, end, err := l.TryWithContext(context.Background(), l.name)
	if errors.Is(err, l.notLocked) {
		return false, nil
	}
	l.end = end
	return err == nil, err
}

// release waits until all keys are given back.
func (l *asideLock) release(context.Context) error {
	l.end()
	return nil
}

func (l *asideLock) extend(context.Context, time.Duration) error { return errNone }
