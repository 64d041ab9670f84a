package proxy

import (
	"bytes"
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
		{"cluster-enabled", "no"},
		{"databases", strconv.Itoa(databases)},
		{"latency-monitor-threshold", "0"},
		{"maxclients", strconv.Itoa(s.Clients.withDefaults().MaxClients)},
		{"maxmemory", "0"},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"proto-max-bulk-len", strconv.Itoa(s.Clients.withDefaults().MaxBulk)},
		{"replica-read-only", "yes"},
		{"requirepass", ""},
		{"save", ""},
		{"slave-read-only", "yes"},
		{"slowlog-log-slower-than", "-1"},
		{"slowlog-max-len", "0"},
		{"timeout", strconv.Itoa(int(s.Clients.Idle.Seconds()))},
	}
}

func (c *session) config(cmd *commands.Command) {
	r, args := &c.reply, cmd.Args[2:]
	switch cmd.Sub {
	case "get":
		c.configGet(args)
	case "set":
		c.configSet(args)
	case "rewrite":
		r.error("ERR The server is running without a config file")
	case "resetstat":
		r.error(commands.Unsupported("CONFIG RESETSTAT: counters only grow").Error())
	}
}

// configGet answers every setting once. One that is asked for by its name, not by a pattern, is called as it was asked for.
func (c *session) configGet(patterns [][]byte) {
	var found [][2]string
	for _, s := range c.server.settings() {
		for _, p := range patterns {
			plain := !bytes.ContainsAny(p, "*?[")
			if plain && strings.EqualFold(string(p), s[0]) {
				found = append(found, [2]string{string(p), s[1]})
				break
			}
			if !plain && glob(bytes.ToLower(p), []byte(s[0])) {
				found = append(found, s)
				break
			}
		}
	}
	c.reply.header(len(found))
	for _, s := range found {
		c.reply.text(s[0])
		c.reply.text(s[1])
	}
}

// configSet says OK to what is so already, for clients that want to be sure of it.
func (c *session) configSet(args [][]byte) {
	if len(args)%2 != 0 {
		c.reply.error("ERR syntax error")
		return
	}
	settings := c.server.settings()
	for ; len(args) > 0; args = args[2:] {
		i := slices.IndexFunc(settings, func(s [2]string) bool { return strings.EqualFold(string(args[0]), s[0]) })
		switch {
		case i < 0:
			c.reply.error("ERR Unknown option or number of arguments for CONFIG SET - '" + commands.OneLine(string(args[0])) + "'")
			return
		case settings[i][1] != string(args[1]):
			c.reply.error(commands.Unsupported("CONFIG SET: options are set at start, see redlockd --help").Error())
			return
		}
	}
	c.reply.status("OK")
}
