//go:build planted

package sim

import (
	"flag"
	"os"
	"strings"
	"testing"

	"redlockd/quorum"
)

var (
	bug = flag.String("bug", "", "plant only bugs whose name contains this; with -seed, replay that seed with it")
)

// chunk is how many seeds are run before their results are looked at.
const chunk = 8

// Every bug that is planted is found, within as many seeds as bugs.go says; but those that are known to hide. Those with a star are planted in
// what the simulator has in place of quorum.Fleet and of backend's goroutines, the others in the code that redlockd runs.
func TestPlantedBugsAreFound(t *testing.T) {
	defer quorum.Plant(quorum.NoBug)
	t.Logf("%-28s %-10s %6s %8s %7s  %s", "planted (* in the simulator)", "rule", "seeds", "of", "asked", "found by")
	for _, b := range Bugs {
		if !strings.Contains(b.Name, *bug) {
			continue
		}
		quorum.Plant(b.Bug)
		if b.Mirror {
			b.Name += " *"
		}
		if *seed != 0 {
			Run(*seed, Options{Trace: os.Stdout})
			return
		}
		if b.Seeds == 0 {
			t.Logf("%-28s %-10s  not found by this simulator: %s", b.Name, b.Rule, b.Hides)
			continue
		}
		look(t, b)
	}
}

func look(t *testing.T, b Bug) {
	t.Helper()
	operations := 0
	for first := 0; first < b.Seeds; first += chunk {
		var list []uint64
		for i := range chunk {
			list = append(list, focusSeed(b.Focus, first+i))
		}
		for i, r := range runAll(list, Options{}) {
			operations += r.Operations
			if len(r.Violations) > 0 {
				t.Logf("%-28s %-10s %6d %8d %7d  %s (seed %d)", b.Name, b.Rule, first+i+1, b.Seeds, operations, r.Violations[0].Law, r.Seed)
				quorum.Plant(quorum.NoBug)
				wantNone(t, Run(r.Seed, Options{})) // so that it was the bug
				return
			}
		}
	}
	t.Errorf("%-28s %-10s was not found in %d seeds", b.Name, b.Rule, b.Seeds)
}

// With nothing planted, the same seeds find nothing.
func TestPlantedNothing(t *testing.T) {
	quorum.Plant(quorum.NoBug)
	for _, f := range focuses {
		for i := range 4 {
			wantNone(t, Run(focusSeed(f.name, i), Options{}))
		}
	}
}

// focusSeed is the i-th seed of that focus.
func focusSeed(name string, i int) uint64 {
	for k, f := range focuses {
		if f.name == name {
			return uint64(k + len(focuses)*(i+1))
		}
	}
	panic("sim: no focus is called " + name)
}
