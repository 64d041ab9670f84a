package sim

import (
	"bufio"
	"bytes"
	"flag"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	seed  = flag.Uint64("seed", 0, "replay this `seed` of the simulator, and tell all that happens in it")
	seeds = flag.Uint64("seeds", 45, "run so many seeds of the simulator, from 1 on")
)

// run many seeds on all processors, and return what came of each.
func runAll(list []uint64, o Options) []Result {
	results := make([]Result, len(list))
	next := make(chan int, len(list))
	for i := range list {
		next <- i
	}
	close(next)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				results[i] = Run(list[i], o)
			}
		})
	}
	wait.Wait()
	return results
}

// enough seeds to see every kind of fault in one of them.
const enough = 400

// Nothing that must never be happens in any seed. One alone is replayed, and told, by
//
//	go test ./quorum/... -run Sim -seed N
func TestSim(t *testing.T) {
	if *seed != 0 {
		wantNone(t, Run(*seed, Options{Trace: os.Stdout}))
		return
	}
	var list []uint64
	for s := uint64(1); s <= *seeds; s++ {
		list = append(list, s)
	}
	faults, grants := map[string]int{}, 0
	for _, r := range runAll(list, Options{}) {
		wantNone(t, r)
		grants += r.Grants
		for kind, n := range r.Faults {
			faults[kind] += n
		}
	}
	if grants < int(*seeds) {
		t.Errorf("only %d locks were granted in %d seeds", grants, *seeds)
	}
	if *seeds < enough {
		return
	}
	for _, k := range kinds {
		if faults[k.name] == 0 {
			t.Errorf("there was no %s in any seed", k.name)
		}
	}
	t.Logf("%d locks; %v", grants, faults)
}

func wantNone(t *testing.T, r Result) {
	t.Helper()
	for _, v := range r.Violations {
		t.Errorf("%v\nreplay it: go test ./quorum/... -run Sim -seed %d", v, r.Seed)
	}
}

// Seeds that have found something once are kept, each with what it was.
func TestSimKeptSeeds(t *testing.T) {
	for _, s := range kept(t, "testdata/seeds.txt") {
		wantNone(t, Run(s, Options{}))
	}
}

// What is accepted of tokens that are not unique does happen: each of these seeds shows a case of it.
func TestSimAcceptedOfSharedTokens(t *testing.T) {
	for _, s := range kept(t, "testdata/shared.txt") {
		if r := Run(s, Options{Strict: true}); len(r.Violations) == 0 {
			t.Errorf("seed %d shows nothing any more", s)
		}
		wantNone(t, Run(s, Options{}))
	}
}

// kept seeds, one at the beginning of each line.
func kept(t *testing.T, name string) (list []uint64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if s, err := strconv.ParseUint(word, 10, 64); err == nil {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		t.Fatal("there are no seeds in " + name)
	}
	return list
}

// The same seed is the same world, to the last letter.
func TestSimReplaysExactly(t *testing.T) {
	for s := range uint64(len(focuses)) {
		var one, two bytes.Buffer
		a, b := Run(s+1, Options{Trace: &one}), Run(s+1, Options{Trace: &two})
		c := Run(s+1, Options{})
		if a.Sum != b.Sum || a.Sum != c.Sum || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("seed %d is not always the same", s+1)
		}
		if one.Len() < 10000 || !maps.Equal(a.Faults, c.Faults) || !slices.Equal(a.Violations, c.Violations) {
			t.Errorf("seed %d: a trace of %d bytes; with it %v, without %v", s+1, one.Len(), a.Faults, c.Faults)
		}
		if s > 0 && a.Sum == Run(s, Options{}).Sum {
			t.Errorf("seeds %d and %d are the same", s, s+1)
		}
	}
}
