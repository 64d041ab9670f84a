package servers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockd/bench/resp"
)

// Any program that listens: here a redis-server, known only by its arguments.
func TestProgram(t *testing.T) {
	args := func(port int) []string { return []string{"--port", strconv.Itoa(port), "--save", ""} }
	ready := func(addr string) error { _, err := resp.Do(addr, time.Second, "PING"); return err }
	p, err := StartProgram(t.TempDir(), "redis-server", args, ready)
	if err != nil {
		t.Fatal(err)
	}
	if err := ready(p.Addr); err != nil || p.Pid() == 0 || !strings.Contains(p.Log(), "Ready to accept") {
		t.Errorf("%v, %d, %s", err, p.Pid(), p.Log())
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if ready(p.Addr) == nil {
		t.Error("it answers after Close")
	}
}

func TestProgramThatEnds(t *testing.T) {
	args := func(int) []string { return []string{"-c", "echo boom; exit 3"} }
	_, err := StartProgram(t.TempDir(), "sh", args, func(addr string) error { _, err := resp.Do(addr, time.Second, "PING"); return err })
	if err == nil || !strings.Contains(err.Error(), "ended with code 3") || !strings.Contains(err.Error(), "boom") {
		t.Fatal(err)
	}
}
