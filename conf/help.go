package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// helpWidth in characters: a terminal of 100 columns and some.
const helpWidth = 100

const usageHead = `redlockd: a lock proxy that speaks the Redis protocol and decides by the majority of N nodes.

usage: redlockd [--option=value ...]

An option is given as a flag (--node-timeout=50ms or --node-timeout 50ms), as a variable
(REDLOCKD_NODE_TIMEOUT=50ms) or in the TOML file that --config names (node-timeout = "50ms", without tables).
Flags win over the environment, the environment over the file, the file over the defaults.
Booleans need the = as a flag; --pad-ttl alone means true. Empty values, unknown names and
broken limits are mistakes, all told at once. --check tells them without starting.

Durations have a unit: 50ms, 1.5s, 24h. Sizes are bytes, or have one: KB and KiB both mean 1024 bytes
(as kb in redis.conf), MB and MiB 1024 times that.
In the user and the password of a node @ / , : % are written %40 %2F %2C %3A %25.
`

// Usage is the text of --help.
func Usage() string {
	var b strings.Builder
	b.WriteString(usageHead)
	for _, g := range table(new(Config)) {
		fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(g.title))
		for _, o := range g.options {
			o.help(&b)
		}
	}
	return b.String()
}

// help writes the option in its ways, then what it may be, why the default is what it is and how to choose.
func (o option) help(b *strings.Builder) {
	if o.from == flagOnly {
		fmt.Fprintf(b, "\n  --%s\n      %s\n", o.name, o.choose)
		return
	}
	fmt.Fprintf(b, "\n  --%s=%s\n", o.name, o.sample())
	fmt.Fprintf(b, "      variable  %s=%s\n", o.variable(), o.sample())
	if o.from == everywhere {
		fmt.Fprintf(b, "      file      %s = %s\n", o.name, o.inFile())
	}
	paragraph(b, "values", o.unit)
	paragraph(b, "default", cmp.Or(o.def, "none")+": "+o.why)
	paragraph(b, "choose", o.choose)
}

// sample is a value to show: the default, or an example where there is none.
func (o option) sample() string { return cmp.Or(o.def, o.example) }

// inFile is the default as TOML writes it.
func (o option) inFile() string {
	switch {
	case slices.Contains(o.toml, unstable.Array):
		return `["` + strings.ReplaceAll(o.sample(), ",", `", "`) + `"]`
	case slices.Contains(o.toml, unstable.String):
		return `"` + o.sample() + `"`
	}
	return o.def
}

// paragraph breaks the words at helpWidth and lines them up behind the title.
func paragraph(b *strings.Builder, title, text string) {
	const indent = 16
	column := indent
	fmt.Fprintf(b, "      %-10s", title)
	for i, w := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(w) > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	b.WriteByte('\n')
}
