//go:build planted

package sim

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockd/quorum"
)

func TestPlantedTry(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	for _, b := range Bugs {
		if only := os.Getenv("BUG"); only != "" && !strings.Contains(b.Name, only) {
			continue
		}
		quorum.Plant(b.Bug)
		began := time.Now()
		ops, found := 0, false
		for s := uint64(1); s <= uint64(n) && time.Since(began) < 20*time.Second; s++ {
			r := Run(s, nil)
			ops += r.Operations
			if len(r.Violations) > 0 {
				t.Logf("%-30s seed %d, %d ops, %v: %s %.100s", b.Name, s, ops, time.Since(began).Round(time.Millisecond), r.Violations[0].Law, r.Violations[0].What)
				found = true
				break
			}
		}
		if !found {
			t.Logf("%-30s NOT FOUND, %d ops, %v", b.Name, ops, time.Since(began))
		}
	}
}
