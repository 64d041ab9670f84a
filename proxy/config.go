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
		{"databases", strconv.Itoa(databases)},
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
		r.error(commands.WrongArity("config|get").Error())
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
