package load

import (
	"syscall"
	"time"
)

// prSetTimerslack is PR_SET_TIMERSLACK of prctl(2): by how many nanoseconds the kernel may be late to wake this thread.
const prSetTimerslack = 29

// sharpen lets this thread's sleeps be as exact as they can be. The runtime's own timers round up to a millisecond when
// nothing else runs, which is more than a lock takes.
func sharpen() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerslack, 1, 0) }

// sleep is for a goroutine that is locked to its thread.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // interrupted: the caller looks at the clock again
}
