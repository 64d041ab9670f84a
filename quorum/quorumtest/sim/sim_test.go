package sim

import (
	"flag"
	"os"
	"testing"
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
	for s := uint64(1); s <= 60; s++ {
		r := Run(s, nil)
		t.Log(s, r.Operations, r.Grants, r.Simulated, r.Events, r.Violations)
		for k, n := range r.Faults {
			total[k] += n
		}
	}
	t.Log(total)
}
