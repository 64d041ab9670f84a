package backend

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is time since boot, suspension included: a machine that slept must not believe
// that its rounds were quick. Go's own monotonic clock stands still meanwhile.
func Clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("backend: no CLOCK_BOOTTIME: " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}
