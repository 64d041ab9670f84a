package servers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Where Debian and its like have the library; the wildcard is the architecture.
const faketimeLibrary = "/usr/lib/*/faketime/libfaketimeMT.so.1"

// clockFile is what the library reads, in the server's directory.
const clockFile = "clock"

// libfaketime also divides the timeouts of the server's poll by the rate: at 50 it spins half of the time, at 100 all
// of it; at 0.01 it looks after itself every ten seconds instead of ten times a second.
const (
	minRate = 0.01
	maxRate = 50
)

var errNoClock = errors.New("servers: this server has the machine's clock; StartRedisWithClock gives one of its own")

// clock is the wall clock of one server, made by libfaketime (what follows was found with 0.9.10). The library reads
// clockFile at each look at the time, so that a change holds from the next command on.
//
// "+30.5 x1.02" means: start + 30.5 s + (now - start) * 1.02, where start is when the library came up in the process, and
// not when the file was changed. So the offset that goes on from a certain reading depends on start (learn).
//
// Three traps of the library: a rate stays in force until another one is written, so each line has one; it also slows
// down the server's poll, so a frozen clock is not rate 0 but an absolute date; and dates are local time, so the server
// gets TZ=UTC.
type clock struct {
	library string
	file    string
	started time.Time // the library's start, as near as we know

	// The clock read `reads` when the real one read at, and has gone on with rate since; 0 is frozen.
	at, reads time.Time
	rate      float64
}

func newClock(dir string) (*clock, error) {
	found, err := filepath.Glob(faketimeLibrary)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("libfaketime is needed (Debian: apt-get install faketime): nothing matches %s", faketimeLibrary)
	}
	file, err := filepath.Abs(filepath.Join(dir, clockFile))
	if err != nil {
		return nil, err
	}
	now := realTime()
	return &clock{library: found[0], file: file, started: now, at: now, reads: now, rate: 1}, nil
}

// realTime is the machine's wall clock, without Go's monotonic reading: the library adds to the wall clock.
func realTime() time.Time { return time.Now().Round(0) }

// reading is what the clock reads at this real time, as long as nobody sets it.
func (c *clock) reading(at time.Time) time.Time {
	return c.reads.Add(time.Duration(float64(at.Sub(c.at)) * c.rate))
}

func (c *clock) set(at, reads time.Time, rate float64) error {
	c.at, c.reads, c.rate = at, reads, rate
	return c.write()
}

func (c *clock) line() string {
	if c.rate == 0 {
		return c.reads.UTC().Format("2006-01-02 15:04:05.000000") + " x1\n"
	}
	offset := c.reading(c.started).Sub(c.started)
	return fmt.Sprintf("%+.6f x%s\n", offset.Seconds(), strconv.FormatFloat(c.rate, 'f', -1, 64))
}

// write replaces the file at once: the library never sees half a line, which would end the server, nor no file, which
// would be the real time.
func (c *clock) write() error {
	next := c.file + ".next"
	if err := os.WriteFile(next, []byte(c.line()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, c.file)
}

// starting is called right before each start of the process: a guess, for the line that it starts with.
func (c *clock) starting() error {
	c.started = realTime()
	return c.write()
}

// learn takes over the true start once the server runs. It leaves the line alone, so that nobody sees the clock jump:
// what the guess was wrong by, some milliseconds to some hundred, times |1-rate|, the clock jumped while it was down.
func (c *clock) learn(pid int) {
	start, ok := faketimeStart(pid)
	if !ok || start.Before(c.started) || start.After(realTime()) {
		return // another version of the library: the guess remains
	}
	if c.rate != 0 {
		c.reads = start.Add(c.reading(c.started).Sub(c.started))
		c.at = start
	}
	c.started = start
}

// faketimeStart is what the library noted as its start, for processes that share it: in a page of shared memory, after
// two counters of eight bytes. The file has only the length of the first, so it is to be mapped, not read.
func faketimeStart(pid int) (time.Time, bool) {
	f, err := os.Open(faketimeShared(pid))
	if err != nil {
		return time.Time{}, false
	}
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, 32, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return time.Time{}, false
	}
	defer syscall.Munmap(page)
	sec, nsec := binary.NativeEndian.Uint64(page[16:]), binary.NativeEndian.Uint64(page[24:])
	return time.Unix(int64(sec), int64(nsec)), true
}

func faketimeShared(pid int) string { return "/dev/shm/faketime_shm_" + strconv.Itoa(pid) }

// sweepFaketime removes that page and its semaphore, which the library leaves behind when the process is killed. It may
// be done while the process runs: nobody else opens them. A later process of the same id would stumble over them.
func sweepFaketime(pid int) {
	_ = os.Remove(faketimeShared(pid)) // mostly they are gone
	_ = os.Remove("/dev/shm/sem.faketime_sem_" + strconv.Itoa(pid))
}

// env: the C library is named behind libfaketime so that its malloc, and not the jemalloc of Debian's redis-server,
// answers while libfaketime sets itself up. Otherwise jemalloc asks for the time meanwhile, and the server never comes up.
// Only the wall clock is faked: not the monotonic one, by which the server paces itself, and not the times of files.
func (c *clock) env() []string {
	return []string{
		"LD_PRELOAD=" + c.library + " libc.so.6",
		"FAKETIME_TIMESTAMP_FILE=" + c.file,
		"FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1",
		"DONT_FAKE_MONOTONIC=1", // its other name
		"NO_FAKE_STAT=1",
		"TZ=UTC",
	}
}

// StartRedisWithClock is StartRedis for a server whose wall clock can be set. It begins with the real time. It needs
// libfaketime, and is slower than a plain one by a few reads of a small file per command.
func StartRedisWithClock(dir string, args ...string) (*Redis, error) {
	own, err := subdir(dir, "redis")
	if err != nil {
		return nil, err
	}
	c, err := newClock(own)
	if err != nil {
		return nil, err
	}
	return startRedis(own, c, args)
}

// SetClock sets the server's wall clock this far ahead of the real one, or behind it if negative, and running as fast.
// The server sees it with its next command. The clock may also be set while the server is paused or down. A Restart keeps
// it as set, and it goes on meanwhile unless it is frozen.
func (r *Redis) SetClock(offset time.Duration) error {
	if r.clock == nil {
		return errNoClock
	}
	now := realTime()
	return r.clock.set(now, now.Add(offset), 1)
}

// FreezeClock stops the clock at its present reading: no key expires any more.
func (r *Redis) FreezeClock() error {
	if r.clock == nil {
		return errNoClock
	}
	now := realTime()
	return r.clock.set(now, r.clock.reading(now), 0)
}

// RunClock lets the clock run from its present reading on, 1.02 being two percent too fast. The jump that it makes is the
// change of rate times the time to write a small file. Where libfaketime does not tell its start (clock), it is
// |1-rate| times what the start of the process took, some milliseconds to some hundred.
func (r *Redis) RunClock(rate float64) error {
	if r.clock == nil {
		return errNoClock
	}
	if !(rate >= minRate && rate <= maxRate) {
		return fmt.Errorf("servers: a clock cannot run with rate %v; from %v to %v it can, and FreezeClock stops it", rate, minRate, maxRate)
	}
	now := realTime()
	return r.clock.set(now, r.clock.reading(now), rate)
}
