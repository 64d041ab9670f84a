package main

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// rueidisClient is one goroutine that takes and releases locks through the Locker that all share, as it is meant: rueidis puts
// the commands of all goroutines onto few connections, and a Locker extends its locks by itself and hears when one is lost. So
// each lock that is held costs goroutines and timers for as long as it is held, and only take + release is measured.
type rueidisClient struct {
	locker rueidislock.Locker
	keys   keys
	sample *sample
	wrong  string
}

// newLocker is set up for one Redis as its documentation says, but for the expiry, which is that of the other rows, and the time after
// which it tries the next key: its 20 ms are for a network, and a busy machine's pauses are not what is measured.
func newLocker(addr string, majority int32) (rueidislock.Locker, error) {
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{addr}},
		KeyMajority:    majority,
		NoLoopTracking: true,
		KeyValidity:    expiry,
		TryNextAfter:   answerLimit,
	})
}

// Step implements load.Worker. The cancel function returns when all keys are deleted, but does not say whether they were: the
// samples do.
func (c *rueidisClient) Step() (good, bad int, err error) {
	name := c.keys.next()
	ctx, cancel, err := c.locker.TryWithContext(context.Background(), name)
	if err != nil {
		return 0, c.failed("take: %v", err), nil
	}
	if ctx.Err() != nil {
		cancel()
		return 0, c.failed("the lock was lost at once: %v", ctx.Err()), nil
	}
	cancel()
	c.sample.note(held{key: "rueidislock:0:" + name, released: true})
	return 1, 0, nil
}

func (c *rueidisClient) failed(format string, err error) (bad int) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf(format, err)
	}
	return 1
}

// Wrong implements load.Worker.
func (c *rueidisClient) Wrong() string { return c.wrong }

// Close implements load.Worker. The Locker is the row's.
func (c *rueidisClient) Close() error { return nil }
