package plot

import "math"

// Range is three quantiles of one measurement, in rising order. The zero value was not measured.
type Range struct {
	Low, Mid, High float64
	Hollow         bool // to be read with the reservation that the legend names
}

// Group is a series of ranges, one for each of the picture's groups.
type Group struct {
	Name   string
	Ranges []Range
}

// Ranges is a picture of quantiles on a logarithmic y axis: in each group one line per series from the lowest to the highest
// quantile, with marks.
type Ranges struct {
	Frame
	Groups  []string
	Series  []Group // at most maxSeries; what is beyond is left out
	Marks   [3]string
	Reserve string // what a hollow mark means; empty: there is none
}

// SVG draws the picture.
func (r Ranges) SVG() []byte {
	series := r.Series[:min(len(r.Series), maxSeries)]
	var names []string
	lowest, highest := math.Inf(1), 0.0
	for _, s := range series {
		names = append(names, s.Name)
		for _, v := range s.Ranges {
			if v.Low > 0 {
				lowest, highest = min(lowest, v.Low), max(highest, v.High)
			}
		}
	}
	if highest == 0 {
		lowest, highest = 1, 10
	}
	ticks := logTicks(lowest, highest)
	y := scale{from: ticks[0], to: ticks[len(ticks)-1], begin: top + plotHeight, end: top, log: true}
	var c canvas
	for _, v := range ticks {
		c.line(left, y.at(v), legendAt, y.at(v), "grid")
		c.text(left-8, y.at(v)+4, "end", "label", thousands(v))
	}
	c.line(left, top+plotHeight, legendAt, top+plotHeight, "axis")
	room := float64(legendAt-left) / float64(max(1, len(r.Groups)))
	for g, name := range r.Groups {
		begin := left + float64(g)*room
		c.text(begin+room/2, top+plotHeight+20, "middle", "label", name)
		if g > 0 {
			c.line(begin, top, begin, top+plotHeight, "grid")
		}
		for i, s := range series {
			if g < len(s.Ranges) && s.Ranges[g].Low > 0 {
				c.quantiles(begin+room*(float64(i)+1)/(float64(len(series))+1), y, s.Ranges[g], i)
			}
		}
	}
	r.legend = []string{"mark: " + r.Marks[0] + ", bar: " + r.Marks[1] + ", end: " + r.Marks[2]}
	r.reserve(r.Reserve)
	return r.finish(&c, names)
}

// quantiles draws one range.
func (c *canvas) quantiles(x float64, y scale, r Range, series int) {
	const bar, end = 6, 2.5
	class := "s" + num(float64(series))
	c.line(x, y.at(r.Low), x, y.at(r.High), class+" l")
	c.line(x-bar, y.at(r.Mid), x+bar, y.at(r.Mid), class+" h")
	c.line(x-end, y.at(r.High), x+end, y.at(r.High), class+" h")
	c.mark(x, y.at(r.Low), series, r.Hollow)
}

// logTicks are 1, 2 and 5 times powers of ten, from just below the lowest value to just above the highest; where these are
// too many, only the powers of ten.
func logTicks(lowest, highest float64) []float64 {
	const many = 12
	steps := []float64{1, 2, 5}
	for {
		var ticks []float64
		for e := math.Floor(math.Log10(lowest)); len(ticks) == 0 || ticks[len(ticks)-1] < highest; e++ {
			for _, m := range steps {
				v := m * math.Pow(10, e)
				if v <= lowest {
					ticks = ticks[:0] // the last one below is enough
				}
				if len(ticks) == 0 || ticks[len(ticks)-1] < highest {
					ticks = append(ticks, v)
				}
			}
		}
		if len(ticks) <= many || len(steps) == 1 {
			return ticks
		}
		steps = steps[:1]
	}
}
