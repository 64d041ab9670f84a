package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"redlockd/bench/rows"
)

// Both pictures of the sample run, to the byte.
func TestPlotsGolden(t *testing.T) {
	r := sample()
	five := r.Lines[2]
	for _, clients := range []int{1000, 1, 10} { // in any order
		l := NewLine(rows.Row{Target: rows.Redlockd, Nodes: 5, Work: five.Row.Work, Clients: clients, Pipeline: 1, Generator: rows.Own})
		l.PerSecond = 18_000 + float64(clients)
		r.Add(l)
	}
	plots := r.Plots()
	if len(plots) != 2 || plots[0].Name != "throughput.svg" || plots[1].Name != "latency-faults.svg" {
		t.Fatalf("%d pictures", len(plots))
	}
	for _, p := range plots {
		golden := filepath.Join("testdata", p.Name)
		if *update {
			if err := os.WriteFile(golden, p.SVG, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(p.SVG, want) {
			t.Errorf("%s differs (rewrite it with -update, and look at it):\n%s", golden, p.SVG)
		}
	}
}

// A run without these rows has no picture of them.
func TestNoPlotsOfNothing(t *testing.T) {
	if plots := (&Report{}).Plots(); plots != nil {
		t.Errorf("%d pictures of nothing", len(plots))
	}
}
