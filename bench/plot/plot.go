// Package plot draws the two kinds of picture that bench needs, as SVG: lines over a logarithmic axis, and ranges of
// quantiles side by side. A picture is data to bytes; nothing is measured or written here.
//
// It is readable on light and on dark ground (the picture follows the reader's colour scheme), and without colours: each
// series has its own dashes and its own mark.
package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Size of everything, in pixels.
const (
	width      = 980
	plotHeight = 380
	left       = 78 // of the plot itself: room for the labels of the y axis
	top        = 56
	legendAt   = 640 // where the plot ends and the legend begins
	legendLine = 20
	smallLine  = 15
	smallWidth = 150 // characters of small print on a line
)

// maxSeries is how many series a picture may have; their colours begin anew after half of them, with other dashes.
const maxSeries = 24

// colours are of a series on light and on dark ground. Blue, vermilion, green, purple, orange and sky are those of Okabe and Ito.
var colours = [...][2]string{
	{"#0072b2", "#4db2ec"}, {"#d55e00", "#ff8a3d"}, {"#009e73", "#2fd3a5"}, {"#aa4499", "#e58bd0"},
	{"#b07c00", "#f0b93a"}, {"#3a6ea5", "#8fc1f5"}, {"#882255", "#ff7fae"}, {"#5a5a5a", "#b8b8b8"},
	{"#117733", "#7ccf8a"}, {"#332288", "#a99cff"}, {"#994f00", "#dba06a"}, {"#006d77", "#70d6de"},
}

var dashes = [...]string{"", "7 4", "2 3", "9 3 2 3"}

const (
	lightInk, lightGrid, lightGround = "#1f2328", "#d8dee4", "#ffffff"
	darkInk, darkGrid, darkGround    = "#e6edf3", "#30363d", "#0d1117"
)

// Frame is what every picture has.
type Frame struct {
	Title  string
	X, Y   string   // what the axes show, with the unit
	Small  []string // small print: the command, the machine
	legend []string // lines below the series, what marks mean
}

// reserve says in the legend what a hollow mark means.
func (f *Frame) reserve(meaning string) {
	if meaning != "" {
		f.legend = append(f.legend, "hollow: "+meaning)
	}
}

// canvas collects the elements of one picture.
type canvas struct {
	strings.Builder
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

// text writes words; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, words string) {
	c.add(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`, num(x), num(y), anchor, class, html.EscapeString(words))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.add(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, num(x1), num(y1), num(x2), num(y2), class)
}

// mark is the sign of a series at a point: circle, square, diamond or triangle.
func (c *canvas) mark(x, y float64, series int, hollow bool) {
	const r = 4.5
	class := fmt.Sprintf("s%d m", series)
	if hollow {
		class = fmt.Sprintf("s%d h", series)
	}
	switch series / len(dashes) % 3 {
	case 0:
		c.add(`<circle cx="%s" cy="%s" r="%s" class="%s"/>`, num(x), num(y), num(r), class)
	case 1:
		c.add(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`, num(x-r), num(y-r), num(2*r), num(2*r), class)
	case 2:
		c.add(`<path d="M%s %sl%s %sh-%sz" class="%s"/>`, num(x), num(y-r-1), num(r+1), num(2*r+1), num(2*r+2), class)
	}
}

// num writes a coordinate: to a tenth of a pixel.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// scale maps values to pixels.
type scale struct {
	from, to   float64 // values
	begin, end float64 // pixels
	log        bool
}

func (s scale) at(v float64) float64 {
	from, to := s.from, s.to
	if s.log {
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	if to == from {
		return (s.begin + s.end) / 2
	}
	return s.begin + (v-from)/(to-from)*(s.end-s.begin)
}

// finish puts title, axes' names, legend, small print and colours around what draw made, which has the place of the plot.
func (f Frame) finish(body *canvas, names []string) []byte {
	var c canvas
	var small []string
	for _, s := range f.Small {
		small = append(small, wrap(s, smallWidth)...)
	}
	bottom := float64(top + plotHeight)
	legend := float64(top + (len(names)+len(f.legend)+1)*legendLine)
	small0 := max(bottom+58, legend+10)
	height := small0 + float64(len(small)*smallLine) + 8
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %d %s" role="img" font-family="system-ui, sans-serif">`,
		width, num(height), width, num(height))
	c.add(`<title>%s</title>`, html.EscapeString(f.Title))
	c.style(len(names))
	c.add(`<rect width="100%%" height="100%%" class="ground"/>`)
	c.text(left, 28, "start", "title", f.Title)
	c.text((left+legendAt)/2, bottom+40, "middle", "label", f.X)
	c.add(`<text transform="translate(18 %s) rotate(-90)" text-anchor="middle" class="label">%s</text>`,
		num(top+plotHeight/2), html.EscapeString(f.Y))
	c.WriteString(body.String())
	for i, name := range names {
		y := float64(top + 10 + i*legendLine)
		c.line(legendAt+22, y, legendAt+52, y, fmt.Sprintf("s%d l", i))
		c.mark(legendAt+37, y, i, false)
		c.text(legendAt+60, y+4, "start", "label", name)
	}
	for i, words := range f.legend {
		c.text(legendAt+22, float64(top+14+(len(names)+i)*legendLine+8), "start", "small", words)
	}
	for i, words := range small {
		c.text(left, small0+float64(i*smallLine), "start", "small", words)
	}
	c.add(`</svg>`)
	return []byte(c.String())
}

// style writes the classes: of the ground, the words and the grid, and of as many series.
func (c *canvas) style(series int) {
	c.add(`<style>`)
	c.add(`.title{font-size:17px;font-weight:600}.label{font-size:12.5px}.small{font-size:10.5px;opacity:.75}`)
	c.add(`.l{fill:none;stroke-width:2}.m{stroke-width:1}.h{stroke-width:1.8}`)
	for i := range series {
		if d := dashes[(i+i/len(colours))%len(dashes)]; d != "" {
			c.add(`.s%d.l{stroke-dasharray:%s}`, i, d)
		}
	}
	palette := func(ink, grid, ground string, dark int) {
		c.add(`text{fill:%s}.ground{fill:%s}.grid{stroke:%s}.axis{stroke:%s}`, ink, ground, grid, ink)
		for i := range series {
			colour := colours[i%len(colours)][dark]
			c.add(`.s%d{stroke:%s}.s%d.m{fill:%s}.s%d.h{fill:%s}`, i, colour, i, colour, i, ground)
		}
	}
	palette(lightInk, lightGrid, lightGround, 0)
	c.add(`@media (prefers-color-scheme: dark){`)
	palette(darkInk, darkGrid, darkGround, 1)
	c.add(`}</style>`)
}

// wrap breaks words into lines of at most n characters; a longer word has a line of its own.
func wrap(words string, n int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(words) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}
