package proxy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"redlockd/commands"
)

// settings are what CONFIG GET tells: Redis's names, for clients that ask for
// them, each with what is true of us.
func (s *Server) settings() [][2]string {
	return [][2]string{
		{"appendonly", "no"},
		{"databases", "1"},
		{"maxclients", strconv.Itoa(s.Clients.withDefaults().MaxClients)},
		{"maxmemory", "0"},
		{"maxmemory-policy", "noeviction"},
		{"proto-max-bulk-len", strconv.Itoa(s.Clients.withDefaults().MaxBulk)},
		{"replica-read-only", "yes"},
		{"requirepass", ""},
		{"save", ""},
		{"slave-read-only", "yes"},
		{"timeout", strconv.Itoa(int(s.Clients.Idle.Seconds()))},
	}
}

func (c *session) config(args [][]byte) {
	r := &c.reply
	switch sub := strings.ToLower(string(args[1])); {
	case sub == "get" && len(args) >= 3:
		c.configGet(args[2:])
	case sub == "get":
		r.error(arity("config|get"))
	case sub == "set" || sub == "rewrite" || sub == "resetstat":
		r.error(commands.Unsupported("CONFIG " + strings.ToUpper(sub) + ": options are set at start, see redlockd --help").Error())
	default:
		r.error(commands.UnknownSubcommand(args).Error())
	}
}

func (c *session) configGet(patterns [][]byte) {
	found := slices.DeleteFunc(c.server.settings(), func(s [2]string) bool {
		return !slices.ContainsFunc(patterns, func(p []byte) bool {
			ok, err := path.Match(strings.ToLower(string(p)), s[0])
			return ok && err == nil
		})
	})
	c.reply.header(len(found))
	for _, s := range found {
		c.reply.text(s[0])
		c.reply.text(s[1])
	}
}

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
	r.text(s.Name)
	r.header(3)
	r.text("summary")
	r.text(s.Summary)
	r.text("since")
	r.text("1.0.0")
	r.text("group")
	r.text(s.Group)
}
