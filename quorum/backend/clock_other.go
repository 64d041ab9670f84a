//go:build !linux

package backend

import (
	"sync/atomic"
	"time"
)

var (
	started = time.Now()
	latest  atomic.Int64
)

// Clock never stands still and never goes back: the larger of Go's monotonic clock, which may
// stand still while the machine is suspended, and of wall time, which may be set. Wall
// time set forward makes rounds look longer than they were: the shorter promise.
func Clock() time.Duration {
	monotonic := time.Since(started)
	wall := time.Duration(time.Now().UnixNano() - started.UnixNano())
	now := int64(max(monotonic, wall))
	for {
		last := latest.Load()
		if now <= last {
			return time.Duration(last)
		}
		if latest.CompareAndSwap(last, now) {
			return time.Duration(now)
		}
	}
}
