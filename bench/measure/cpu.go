package measure

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"redlockd/bench/report"
)

// usage is the CPU time that each side has used up to now, and that the whole machine has.
type usage struct {
	at                      time.Time
	generator, proxy, nodes time.Duration
	busy                    time.Duration // all cores, all processes, and what the hypervisor gave to others
}

func (s *Stage) usage() usage {
	u := usage{at: time.Now(), generator: ownCPU(), busy: busyCPU(), nodes: s.nodesCPU()}
	for _, pid := range s.running.Pids {
		u.proxy += cpuOf(pid)
	}
	return u
}

// perOp is what one of n operations cost between two readings.
func perOp(from, to usage, n uint64) report.CPU {
	if n == 0 {
		return report.CPU{}
	}
	per := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(n) }
	return report.CPU{
		Generator: per(to.generator - from.generator), Proxy: per(to.proxy - from.proxy), Nodes: per(to.nodes - from.nodes),
	}
}

// others is the share of the machine that somebody else used between two readings, 0 to 1. A row beside a compiler is no
// measurement, and nobody sees it from the rate alone.
func others(from, to usage) float64 {
	all := to.at.Sub(from.at) * time.Duration(runtime.NumCPU())
	ours := to.generator - from.generator + to.proxy - from.proxy + to.nodes - from.nodes
	if all <= 0 || to.busy == 0 {
		return 0
	}
	return min(1, max(0, float64(to.busy-from.busy-ours)/float64(all)))
}

// watchStalls measures by how much a short sleep was longest overdue, until stop is called. On a saturated machine that
// is some milliseconds; a hundred and more mean that everything stood still (a paused virtual machine, swapping).
func watchStalls() (stop func() time.Duration) {
	const nap = 5 * time.Millisecond
	quit, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick := time.NewTicker(nap)
		defer tick.Stop()
		var worst time.Duration
		for last := time.Now(); ; {
			select {
			case <-tick.C:
				now := time.Now()
				worst = max(worst, now.Sub(last)-nap)
				last = now
			case <-quit:
				result <- worst
				return
			}
		}
	}()
	return func() time.Duration {
		close(quit)
		return <-result
	}
}

// ownCPU is the CPU time of this process: the generator, and next to nothing else.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// tick is the unit of CPU time in /proc: USER_HZ is 100 wherever Go runs on Linux.
const tick = 10 * time.Millisecond

// cpuOf reads the CPU time of a process from /proc; 0 where there is none.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets and may hold anything; user and system time are the 14th and 15th.
	end := strings.LastIndexByte(string(text), ')')
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 13 {
		return 0
	}
	return ticks(fields[11]) + ticks(fields[12])
}

// busyCPU reads the time that the machine's cores were not idle; 0 where that cannot be known.
func busyCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 {
		return 0
	}
	var busy time.Duration
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		busy += ticks(fields[i])
	}
	return busy
}

func ticks(field string) time.Duration {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * tick
}
