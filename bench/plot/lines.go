package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is one measurement.
type Point struct {
	X, Y   float64
	Hollow bool // to be read with the reservation that the legend names
}

// Series is a line through points, in the order of X. A single point is only a mark.
type Series struct {
	Name   string
	Points []Point
}

// Lines is a picture of lines over a logarithmic x axis; the y axis is linear and begins at 0.
type Lines struct {
	Frame
	Series  []Series // at most maxSeries; what is beyond is left out
	Reserve string   // what a hollow mark means; empty: there is none
}

// SVG draws the picture.
func (l Lines) SVG() []byte {
	series := l.Series[:min(len(l.Series), maxSeries)]
	l.reserve(l.Reserve)
	var xs []float64
	highest := 0.0
	var names []string
	for _, s := range series {
		names = append(names, s.Name)
		for _, p := range s.Points {
			xs = append(xs, p.X)
			highest = max(highest, p.Y)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	step := niceStep(highest)
	y := scale{from: 0, to: max(step, math.Ceil(highest/step)*step), begin: top + plotHeight, end: top}
	var c canvas
	for v := 0.0; v <= y.to+step/2; v += step {
		c.line(left, y.at(v), legendAt, y.at(v), "grid")
		c.text(left-8, y.at(v)+4, "end", "label", thousands(v))
	}
	if len(xs) == 0 {
		return l.finish(&c, names)
	}
	x := scale{from: xs[0], to: xs[len(xs)-1], begin: left + 20, end: legendAt - 20, log: true}
	for _, v := range xs {
		c.line(x.at(v), top, x.at(v), top+plotHeight, "grid")
		c.text(x.at(v), top+plotHeight+20, "middle", "label", thousands(v))
	}
	c.line(left, top+plotHeight, legendAt, top+plotHeight, "axis")
	for i, s := range series {
		var path []string
		for _, p := range s.Points {
			path = append(path, num(x.at(p.X))+","+num(y.at(p.Y)))
		}
		if len(path) > 1 {
			c.add(`<polyline points="%s" class="s%d l"/>`, strings.Join(path, " "), i)
		}
		for _, p := range s.Points {
			c.mark(x.at(p.X), y.at(p.Y), i, p.Hollow)
		}
	}
	return l.finish(&c, names)
}

// niceStep is 1, 2 or 5 times a power of ten, at most eight of which reach up to highest.
func niceStep(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	for e := math.Floor(math.Log10(highest / 8)); ; e++ {
		for _, m := range []float64{1, 2, 5} {
			if step := m * math.Pow(10, e); highest/step <= 8 {
				return step
			}
		}
	}
}

// thousands writes a number of the axis: 20000 as 20,000 and 0.5 as it is.
func thousands(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	n := int(math.Round(v))
	if n < 1_000_000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
}
