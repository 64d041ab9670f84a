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
		for _, other := range []func(Row) (Row, bool){Row.DirectRow, Row.HealthyRow, Row.FloorRow} {
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

// What issue 2 asks to see in one run.
func TestWhatMustBeThere(t *testing.T) {
	got := names(All(false))
	for _, target := range []string{"direct", "redlockd-1", "redlockd-3", "redlockd-5"} {
		for _, work := range []string{"take", "cycle"} {
			for _, shape := range []string{"c1/p1", "c1/p16", "c50/p1", "c50/p16"} {
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
