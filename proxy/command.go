package proxy

import (
	"slices"
	"strings"

	"redlockd/commands"
)

// commandInfo answers COMMAND and its subcommands.
func (c *session) commandInfo(cmd *commands.Command) {
	r, args := &c.reply, cmd.Args[min(len(cmd.Args), 2):]
	switch cmd.Sub {
	case "":
		c.describe(namesOf(commands.Specs()))
	case "count":
		r.int(int64(len(commands.Specs())))
	case "list":
		c.commandList(args)
	case "getkeys":
		keys, err := commands.KeysOf(args)
		if err != nil {
			r.error(err.Error())
			return
		}
		r.array(len(keys))
		for _, key := range keys {
			r.bulk(key)
		}
	case "info":
		c.describe(orAll(args))
	case "docs":
		c.document(orAll(args))
	}
}

func namesOf(specs []commands.Spec) (names []string) {
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

func orAll(args [][]byte) (names []string) {
	if len(args) == 0 {
		return namesOf(commands.Specs())
	}
	for _, arg := range args {
		names = append(names, commands.NameOf(arg))
	}
	return names
}

// commandList is COMMAND LIST [FILTERBY MODULE name|ACLCAT category|PATTERN pattern].
func (c *session) commandList(args [][]byte) {
	var match func(commands.Spec) bool
	switch {
	case len(args) == 0:
		match = func(commands.Spec) bool { return true }
	case len(args) != 3 || !isOneOf(args[0], "filterby"):
	case isOneOf(args[1], "module"):
		match = func(commands.Spec) bool { return false }
	case isOneOf(args[1], "aclcat"):
		match = func(s commands.Spec) bool {
			return slices.Contains(categories(s), "@"+strings.ToLower(string(args[2])))
		}
	case isOneOf(args[1], "pattern"):
		match = func(s commands.Spec) bool { return glob(args[2], []byte(s.Name)) }
	}
	if match == nil {
		c.reply.error(errSyntax)
		return
	}
	names := namesOf(slices.DeleteFunc(commands.Specs(), func(s commands.Spec) bool { return !match(s) }))
	c.reply.array(len(names))
	for _, name := range names {
		c.reply.text(name)
	}
}

// describe commands as COMMAND INFO does; null for one that is not known.
func (c *session) describe(names []string) {
	r := &c.reply
	r.array(len(names))
	for _, name := range names {
		spec, sub, ok := find(name)
		switch {
		case !ok:
			r.null()
		case sub != nil:
			c.describeOne(commands.Spec{Name: name, Arity: sub.Arity, Flags: spec.Flags, Group: spec.Group}, nil)
		default:
			c.describeOne(spec, commands.Subs(name))
		}
	}
}

// find a command, or a subcommand by its full name: client|id.
func find(name string) (spec commands.Spec, sub *commands.Sub, ok bool) {
	name, rest, full := strings.Cut(name, "|")
	spec, ok = commands.SpecOf(name)
	if !ok || !full {
		return spec, nil, ok
	}
	for _, s := range commands.Subs(name) {
		if s.Name == rest {
			return spec, &s, true
		}
	}
	return spec, nil, false
}

func (c *session) describeOne(s commands.Spec, subs []commands.Sub) {
	r := &c.reply
	r.array(10)
	r.text(s.Name)
	r.int(int64(s.Arity))
	r.statuses(s.Flags)
	r.int(int64(s.First))
	r.int(int64(s.Last))
	r.int(int64(s.Step))
	r.statuses(categories(s))
	r.set(0) // tips
	r.set(0) // key specifications
	r.array(len(subs))
	for _, sub := range subs {
		c.describeOne(commands.Spec{Name: s.Name + "|" + sub.Name, Arity: sub.Arity, Flags: s.Flags, Group: s.Group}, nil)
	}
}

// categories as ACLs have them.
func categories(s commands.Spec) []string {
	var list []string
	for _, c := range [][2]string{{"write", "@write"}, {"readonly", "@read"}, {"admin", "@admin"}, {"admin", "@dangerous"}, {"pubsub", "@pubsub"}} {
		if slices.Contains(s.Flags, c[0]) {
			list = append(list, c[1])
		}
	}
	switch s.Group {
	case "generic":
		list = append(list, "@keyspace")
	case "transactions":
		list = append(list, "@transaction")
	case "string", "connection", "scripting":
		list = append(list, "@"+s.Group)
	}
	if slices.Contains(s.Flags, "fast") {
		return append(list, "@fast")
	}
	return append(list, "@slow")
}

// document commands as COMMAND DOCS does. One that is not known is left out.
func (c *session) document(names []string) {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, _, ok := find(name)
		return !ok
	})
	c.reply.header(len(names))
	for _, name := range names {
		spec, sub, _ := find(name)
		if sub != nil {
			c.documentOne(name, spec.Group, sub.Summary, sub.Syntax, nil)
		} else {
			c.documentOne(name, spec.Group, spec.Summary, spec.Syntax, commands.Subs(name))
		}
	}
}

func (c *session) documentOne(name, group, summary, syntax string, subs []commands.Sub) {
	r, args := &c.reply, arguments(syntax)
	pairs := 3
	if len(args) > 0 {
		pairs++
	}
	if len(subs) > 0 {
		pairs++
	}
	r.text(name)
	r.header(pairs)
	for _, p := range [][2]string{{"summary", summary}, {"since", "1.0.0"}, {"group", group}} {
		r.text(p[0])
		r.text(p[1])
	}
	if len(args) > 0 {
		r.text("arguments")
		r.array(len(args))
		for _, a := range args {
			a.write(r)
		}
	}
	if len(subs) > 0 {
		r.text("subcommands")
		r.header(len(subs))
		for _, s := range subs {
			c.documentOne(name+"|"+s.Name, group, s.Summary, s.Syntax, nil)
		}
	}
}

// help is what every command with subcommands answers to HELP.
func (c *session) help(name string) {
	lines := []string{strings.ToUpper(name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, s := range commands.Subs(name) {
		lines = append(lines, strings.TrimSpace(strings.ToUpper(s.Name)+" "+s.Syntax), "    "+s.Summary)
	}
	c.reply.array(len(lines))
	for _, line := range lines {
		c.reply.status(line)
	}
}
