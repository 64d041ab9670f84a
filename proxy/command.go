package proxy

import (
	"slices"
	"strings"

	"redlockd/commands"
)

// commandInfo answers COMMAND and its subcommands.
func (c *session) commandInfo(args [][]byte) {
	r := &c.reply
	if len(args) == 1 {
		specs := commands.Specs()
		r.array(len(specs))
		for _, s := range specs {
			c.describe(s)
		}
		return
	}
	switch sub := strings.ToLower(string(args[1])); sub {
	case "count":
		r.int(int64(len(commands.Specs())))
	case "list":
		specs := commands.Specs()
		r.array(len(specs))
		for _, s := range specs {
			r.text(s.Name)
		}
	case "info":
		c.commandsNamed(args[2:], r.array, func(s commands.Spec) { c.describe(s) }, r.null)
	case "docs":
		c.commandsNamed(args[2:], r.header, func(s commands.Spec) { c.document(s) }, nil)
	default:
		r.error(commands.UnknownSubcommand(args).Error())
	}
}

// commandsNamed writes those of the names, or all if there are none. An unknown one is answered by missing,
// or left out if that is nil.
func (c *session) commandsNamed(names [][]byte, begin func(int), one func(commands.Spec), missing func()) {
	if len(names) == 0 {
		for _, s := range commands.Specs() {
			names = append(names, []byte(s.Name))
		}
	}
	if missing == nil {
		names = slices.DeleteFunc(slices.Clone(names), func(n []byte) bool {
			_, ok := commands.SpecOf(commands.NameOf(n))
			return !ok
		})
	}
	begin(len(names))
	for _, n := range names {
		if s, ok := commands.SpecOf(commands.NameOf(n)); ok {
			one(s)
		} else {
			missing()
		}
	}
}

func (c *session) describe(s commands.Spec) {
	r := &c.reply
	r.array(10)
	r.text(s.Name)
	r.int(int64(s.Arity))
	r.set(len(s.Flags))
	for _, f := range s.Flags {
		r.status(f)
	}
	r.int(int64(s.First))
	r.int(int64(s.Last))
	r.int(int64(s.Step))
	r.set(1)
	r.status("@" + s.Group)
	r.array(0) // tips
	r.array(0) // key specifications
	r.array(0) // subcommands
}

func (c *session) document(s commands.Spec) {
	r := &c.reply
	args := arguments(s.Syntax)
	r.text(s.Name)
	r.header(4)
	r.text("summary")
	r.text(s.Summary)
	r.text("since")
	r.text("1.0.0")
	r.text("group")
	r.text(s.Group)
	r.text("arguments")
	r.array(len(args))
	for _, a := range args {
		a.write(r)
	}
}

// argument is one of COMMAND DOCS, from which redis-cli makes its hints.
type argument struct {
	name, token        string
	optional, multiple bool
	choice             []argument
}

// arguments reads commands.Spec's Syntax.
func arguments(syntax string) (list []argument) {
	for syntax = strings.TrimSpace(syntax); syntax != ""; syntax = strings.TrimSpace(syntax) {
		var one string
		if inner, ok := strings.CutPrefix(syntax, "["); ok {
			one, syntax, _ = strings.Cut(inner, "]")
			a := choiceOf(one)
			a.optional = true
			list = append(list, a)
			continue
		}
		one, syntax, _ = strings.Cut(syntax, " ")
		list = append(list, choiceOf(one))
	}
	return list
}

func choiceOf(text string) argument {
	parts := strings.Split(text, "|")
	if len(parts) == 1 {
		return argumentOf(text)
	}
	a := argument{name: "option"}
	for _, p := range parts {
		a.choice = append(a.choice, argumentOf(p))
	}
	return a
}

func argumentOf(text string) argument {
	name, multiple := strings.CutSuffix(text, "...")
	token, value, both := strings.Cut(name, " ")
	switch {
	case both:
		return argument{name: value, token: token, multiple: multiple}
	case name == strings.ToUpper(name):
		return argument{token: name, multiple: multiple}
	default:
		return argument{name: name, multiple: multiple}
	}
}

func (a argument) write(r *reply) {
	kind, name := "string", a.name
	switch {
	case a.choice != nil:
		kind = "oneof"
	case a.name == "":
		kind, name = "pure-token", strings.ToLower(a.token)
	}
	fields := [][2]string{{"name", name}, {"type", kind}}
	if a.token != "" {
		fields = append(fields, [2]string{"token", a.token})
	}
	var flags []string
	if a.optional {
		flags = append(flags, "optional")
	}
	if a.multiple {
		flags = append(flags, "multiple")
	}
	pairs := len(fields)
	if flags != nil {
		pairs++
	}
	if a.choice != nil {
		pairs++
	}
	r.header(pairs)
	for _, f := range fields {
		r.text(f[0])
		r.text(f[1])
	}
	if flags != nil {
		r.text("flags")
		r.set(len(flags))
		for _, f := range flags {
			r.status(f)
		}
	}
	if a.choice != nil {
		r.text("arguments")
		r.array(len(a.choice))
		for _, one := range a.choice {
			one.write(r)
		}
	}
}
