package sim

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "replay this `seed` of the simulator, and tell all that happens in it")

// TestSimSeed replays one seed: go test ./quorum/... -run Sim -seed N
func TestSimSeed(t *testing.T) {
	if *seed == 0 {
		return // not asked for
	}
	r := Run(*seed, os.Stdout)
	for _, v := range r.Violations {
		t.Errorf("seed %d: %v", r.Seed, v)
	}
}

func TestTry(t *testing.T) {
	total := map[string]int{}
	events, ops, grants := 0, 0, 0
	var simulated time.Duration
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	began := time.Now()
	for s := uint64(from + 1); s <= uint64(from+n); s++ {
		r := Run(s, nil)
		if len(r.Violations) > 0 {
			t.Log(s, r.Operations, r.Grants, r.Simulated, r.Events, r.Violations)
		}
		for k, n := range r.Faults {
			total[k] += n
		}
		events, ops, grants, simulated = events+r.Events, ops+r.Operations, grants+r.Grants, simulated+r.Simulated
	}
	t.Log(events, ops, grants, simulated, time.Since(began))
	t.Log(total)
}
