package measure

import (
	"os"
	"os/exec"
	"runtime"
	"strings"

	"redlockd/bench/report"
)

// machine says where this run takes place. What cannot be found out is left as "unknown": no figure depends on it.
func machine(redlockd string) report.Machine {
	m := report.Machine{
		Cores:  runtime.NumCPU(),
		CPU:    cpuModel(),
		System: runtime.GOOS + "/" + runtime.GOARCH + " " + firstField("/proc/sys/kernel/osrelease"),
		Load:   firstField("/proc/loadavg"),
		Go:     runtime.Version(),
		Redis:  redisVersion(output("redis-server", "--version")),
	}
	if redlockd != "" {
		m.Redlockd = output(redlockd, "--version")
	}
	return m
}

const unknown = "unknown"

// output is the first line that a program prints.
func output(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return unknown
	}
	return line
}

// redisVersion takes the number out of "Redis server v=7.0.15 sha=… build=…".
func redisVersion(line string) string {
	for _, f := range strings.Fields(line) {
		if v, ok := strings.CutPrefix(f, "v="); ok {
			return v
		}
	}
	return line
}

func firstField(path string) string {
	text, err := os.ReadFile(path)
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 0 {
		return fields[0]
	}
	return unknown
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}
