package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	wellFormed(t, got)
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite it with -update, and look at it):\n%s", path, got)
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

var small = []string{
	"go run ./bench --rows 'take/c(1|50)/p1$' <really> " + strings.Repeat("and more ", 20),
	"2 cores, Some CPU & another; go1.26, Redis 7.0.15",
}

func TestLinesGolden(t *testing.T) {
	golden(t, "lines.svg", Lines{
		Frame: Frame{Title: "Locks taken per second", X: "clients", Y: "locks per second", Small: small},
		Series: []Series{
			{"one Redis, directly", []Point{{X: 1, Y: 30_000}, {X: 10, Y: 60_000}, {X: 50, Y: 72_000}, {X: 1000, Y: 65_000}}},
			{"redlockd N=5", []Point{{X: 1, Y: 6_000}, {X: 10, Y: 15_000}, {X: 50, Y: 24_000}, {X: 1000, Y: 25_500, Hollow: true}}},
			{"five redis-benchmark", []Point{{X: 50, Y: 12_500}}},
			{"fourth", []Point{{X: 1, Y: 1000}, {X: 1000, Y: 2000}}},
			{"fifth", []Point{{X: 1, Y: 3000}, {X: 1000, Y: 4000}}},
			{"ninth & last", nil},
		},
		Reserve: "some answers were wrong",
	}.SVG())
}

func TestRangesGolden(t *testing.T) {
	golden(t, "ranges.svg", Ranges{
		Frame:  Frame{Title: "Latency under faults", X: "what is broken", Y: "milliseconds", Small: small},
		Groups: []string{"healthy", "one stopped", "one slow"},
		Marks:  [3]string{"p50", "p99", "p99.9"}, Reserve: "behind schedule",
		Series: []Group{
			{"redlockd N=5", []Range{{Low: 0.3, Mid: 1.2, High: 2.8}, {Low: 0.3, Mid: 1.3, High: 3}, {}}},
			{"redsync", []Range{{Low: 0.9, Mid: 4, High: 9}, {Low: 900, Mid: 2000, High: 2500, Hollow: true}, {Low: 20, Mid: 25, High: 41}}},
		},
	}.SVG())
}

// No data, one value, more series than colours: a picture all the same.
func TestPicturesOfLittle(t *testing.T) {
	wellFormed(t, Lines{}.SVG())
	wellFormed(t, Ranges{}.SVG())
	wellFormed(t, Lines{Series: []Series{{"x", []Point{{X: 5, Y: 0}}}}}.SVG())
	wellFormed(t, Ranges{Groups: []string{"g"}, Series: []Group{{"x", []Range{{Low: 1, Mid: 1, High: 1}}}}}.SVG())
	var many Lines
	for i := range 2 * maxSeries {
		many.Series = append(many.Series, Series{fmt.Sprintf("number %d", i), []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}})
	}
	svg := many.SVG()
	wellFormed(t, svg)
	if bytes.Contains(svg, []byte("NaN")) || strings.Count(string(svg), "<polyline") != maxSeries {
		t.Errorf("%s", svg)
	}
}

func TestTicks(t *testing.T) {
	for highest, want := range map[float64]float64{0: 1, 1: 0.2, 8: 1, 9: 2, 72_000: 10_000, 900: 200} {
		if got := niceStep(highest); fmt.Sprintf("%.6g", got) != fmt.Sprintf("%.6g", want) {
			t.Errorf("up to %v in steps of %v, want %v", highest, got, want)
		}
	}
	for _, c := range []struct {
		lowest, highest float64
		want            []float64
	}{
		{0.3, 2.8, []float64{0.2, 0.5, 1, 2, 5}},
		{1, 1, []float64{1}},
		{0.3, 20_000, []float64{0.1, 1, 10, 100, 1000, 10_000, 100_000}},
	} {
		if got := logTicks(c.lowest, c.highest); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return fmt.Sprintf("%.6g", a) == fmt.Sprintf("%.6g", b) }) {
			t.Errorf("%v to %v: %v, want %v", c.lowest, c.highest, got, c.want)
		}
	}
}
