//go:build planted

package sim

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"redlockd/quorum"
)

var (
	bug      = flag.String("bug", "", "plant only bugs whose name contains this; with -seed, replay that seed with it")
	patience = flag.Duration("patience", 20*time.Second, "how long to look for one bug")
)

func TestPlantedTry(t *testing.T) {
	for _, b := range Bugs {
		if !strings.Contains(b.Name, *bug) {
			continue
		}
		quorum.Plant(b.Bug)
		if *seed != 0 {
			Run(*seed, os.Stdout)
			return
		}
		began := time.Now()
		f := uint64(0)
		for i := range focuses {
			if focuses[i].name == b.Focus {
				f = uint64(i)
			}
		}
		n := uint64(len(focuses))
		ops, found, s := 0, false, f+n
		for ; time.Since(began) < *patience; s += n {
			r := Run(s, nil)
			ops += r.Operations
			if len(r.Violations) > 0 {
				t.Logf("%-30s seed %d, %d ops, %v: %s %.100s", b.Name, s/n, ops, time.Since(began).Round(time.Millisecond), r.Violations[0].Law, r.Violations[0].What)
				found = true
				break
			}
		}
		if !found {
			t.Logf("%-30s NOT FOUND, %d seeds, %d ops, %v", b.Name, s/n, ops, time.Since(began))
		}
	}
}
