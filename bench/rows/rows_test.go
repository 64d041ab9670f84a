package rows

import (
	"regexp"
	"slices"
	"testing"

	"redlockd/bench/load"
)

func names(list []Row) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name())
	}
	return out
}

// Every row has a name of its own, and whatever a row is compared with is measured too.
func TestTableIsClosed(t *testing.T) {
	all := All(true)
	seen := map[string]bool{}
	for _, r := range all {
		if seen[r.Name()] {
			t.Errorf("%s stands twice", r.Name())
		}
		seen[r.Name()] = true
	}
	for _, r := range all {
		for _, other := range others {
			if o, ok := other(r); ok && !seen[o.Name()] {
				t.Errorf("%s is compared with %s, which is not measured", r.Name(), o.Name())
			}
		}
	}
}

func TestSelectAddsWhatIsComparedWith(t *testing.T) {
	got := names(Select(All(false), regexp.MustCompile("take/c50/p1/stopped")))
	want := []string{"direct/take/c50/p1", "redlockd-5/take/c50/p1", "redlockd-5/take/c50/p1/stopped"}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s is missing in %s", w, got)
		}
	}
	if got := names(Select(All(false), regexp.MustCompile("^direct/ping"))); len(got) != 2 {
		t.Errorf("got %s", got)
	}
	if got := Select(All(true), regexp.MustCompile("nothing")); got != nil {
		t.Errorf("got %s", names(got))
	}
}

// An open loop's rate is a share of a closed one's: also that of the row beside a peer's is measured.
func TestOpenRowsBringTheirRates(t *testing.T) {
	closed := redlockd(load.Take, many, 1)
	closed.Target = "library"
	open := closed
	open.Open, open.Fault = 50, Stopped
	got := names(Select(append(All(false), closed, open), regexp.MustCompile("^library.*open")))
	for _, w := range []string{closed.Name(), open.Name(), "redlockd-5/take/c50/p1", "redlockd-5/take/c50/p1/open50/stopped"} {
		if !slices.Contains(got, w) {
			t.Errorf("%s is missing in %s", w, got)
		}
	}
}

// What one run must show: the least.
func TestWhatMustBeThere(t *testing.T) {
	got := names(All(false))
	for _, target := range []string{"direct", "redlockd-1", "redlockd-3", "redlockd-5", "redlockd-7"} {
		for _, work := range []string{"take", "cycle"} {
			for _, shape := range []string{"c1/p1", "c1/p16", "c10/p64", "c50/p1", "c50/p16", "c200/p64", "c1000/p16"} {
				if name := target + "/" + work + "/" + shape; !slices.Contains(got, name) {
					t.Errorf("%s is missing", name)
				}
			}
		}
	}
	if !slices.Contains(got, "floor-5/take/c50/p16") {
		t.Error("the floor is missing")
	}
}

// What one run must show: everything that a goal is computed from, and every fault.
func TestUsualRowsAnswerTheGoals(t *testing.T) {
	got := names(Usual(All(false)))
	for _, want := range []string{
		"direct/take/c1/p1", "redlockd-5/take/c1/p1", "redlockd-1/take/c50/p1", "redlockd-3/take/c50/p1", "redlockd-7/take/c50/p1",
		"redlockd-1/take/c50/p16", "redlockd-7/take/c50/p16", "floor-5/take/c50/p1", "floor-5/take/c50/p16", "redlockd-5/take/c1000/p1",
		"redlockd-5/take/c50/p1/stopped", "redlockd-5/take/c50/p1/slow", "redlockd-5/take/c50/p1/dead", "redlockd-5/take/c50/p1/restarting",
		"redlockd-5/take/c50/p1/taught", "redlockd-5/take/c50/p16/stopped", "redlockd-5/take/c50/p1/open50/stopped", "redlockd-5/take/c50/p1/open75",
		"redlockd-5/refused/c50/p1", "redlockd-5/contended/c50/p1", "redlockd-5/get/c50/p1", "redlockd-5/idle/c10000/p1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// A peer's row is beside redlockd's over as many nodes; without redis-server, beside the fleet of the goals.
func TestPeersRowIsComparedWithRedlockd(t *testing.T) {
	for nodes, want := range map[int]string{1: "redlockd-1/take/c50/p1", 5: "redlockd-5/take/c50/p1", 0: "redlockd-5/take/c50/p1"} {
		peer := Row{Target: "peer", Nodes: nodes, Work: "take", Clients: 50, Pipeline: 1, Generator: Own}
		if got, ok := peer.RedlockdRow(); !ok || got.Name() != want {
			t.Errorf("%s: %s", peer.Name(), got.Name())
		}
		if got := names(Usual(append(All(false), peer), peer)); !slices.Contains(got, peer.Name()) {
			t.Errorf("%s is not usual", peer.Name())
		}
	}
}
