package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"

	"redlockd/commands"
)

// about is what CLIENT LIST tells of a connection.
type about struct {
	name, lib, libVersion string
	last                  string // the latest command, in lower case
	heard                 time.Time
	proto, db             int
	queued                int // since MULTI; -1 outside of one
	subs                  [topicKinds]int
}

func (c *session) rename(name string) {
	c.mu.Lock()
	c.about.name = name
	c.mu.Unlock()
}

func (c *session) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.about.name
}

// note the first command of a batch, for CLIENT LIST.
func (c *session) note(cmd redcon.Command) {
	queued := -1
	if c.transaction.multi {
		queued = len(c.transaction.queued)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.about.last = commands.Known(cmd.Args)
	c.about.heard = time.Now()
	c.about.proto = c.reply.proto
	c.about.db = c.db
	c.about.queued = queued
}

// noteSubscriptions for CLIENT LIST.
func (c *session) noteSubscriptions() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind := range c.subs.has {
		c.about.subs[kind] = len(c.subs.has[kind])
	}
}

// kind is what Redis calls the type of a client.
func (a *about) kind() string {
	if a.subs != [topicKinds]int{} {
		return "pubsub"
	}
	return "normal"
}

func (a *about) flags() string {
	flags := ""
	if a.kind() == "pubsub" {
		flags += "P"
	}
	if a.queued >= 0 {
		flags += "x"
	}
	if flags == "" {
		return "N"
	}
	return flags
}

// line is this connection in CLIENT LIST. Clients read the fields by name and miss those that are not there: zero where
// there is nothing to say.
func (c *session) line() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, now := &c.about, time.Now()
	idle := 0
	if !a.heard.IsZero() {
		idle = int(now.Sub(a.heard).Seconds())
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d watch=0 "+
		"qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r "+
		"cmd=%s user=default redir=-1 resp=%d lib-name=%s lib-ver=%s",
		c.id, c.conn.RemoteAddr(), c.localAddr(), a.name, int(now.Sub(c.begun).Seconds()), idle, a.flags(), a.db,
		a.subs[channelTopic], a.subs[patternTopic], a.subs[shardTopic], a.queued, a.last, a.proto, a.lib, a.libVersion)
}

func (c *session) localAddr() string { return c.conn.NetConn().LocalAddr().String() }

// matching are the sessions that match, by id.
func (s *Server) matching(match func(*session) bool) (all []*session) {
	s.mu.Lock()
	for _, c := range s.sessions {
		all = append(all, c)
	}
	s.mu.Unlock()
	all = slices.DeleteFunc(all, func(c *session) bool { return !match(c) })
	slices.SortFunc(all, func(a, b *session) int { return int(a.id - b.id) })
	return all
}

// clientList is CLIENT LIST [TYPE type] [ID id ...].
func (c *session) clientList(args [][]byte) {
	r := &c.reply
	match := func(*session) bool { return true }
	switch {
	case len(args) == 0:
	case len(args) == 2 && isOneOf(args[0], "type"):
		kind, ok := kindOfClient(args[1])
		if !ok {
			r.error(errKind(args[1]))
			return
		}
		match = ofKind(kind)
	case len(args) > 1 && isOneOf(args[0], "id"):
		ids := map[int64]bool{}
		for _, arg := range args[1:] {
			id, err := strconv.ParseInt(string(arg), 10, 64)
			if err != nil {
				r.error("ERR Invalid client ID")
				return
			}
			ids[id] = true
		}
		match = func(s *session) bool { return ids[s.id] }
	default:
		r.error(errSyntax)
		return
	}
	var b strings.Builder
	for _, s := range c.server.matching(match) {
		b.WriteString(s.line())
		b.WriteByte('\n')
	}
	r.verbatim(b.String())
}

func kindOfClient(arg []byte) (kind string, ok bool) {
	switch kind = strings.ToLower(string(arg)); kind {
	case "slave":
		return "replica", true
	case "normal", "master", "replica", "pubsub":
		return kind, true
	}
	return "", false
}

func errKind(arg []byte) string {
	return "ERR Unknown client type '" + commands.OneLine(string(arg)) + "'"
}

func ofKind(kind string) func(*session) bool {
	return func(s *session) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.about.kind() == kind
	}
}

// clientKill closes the connection from an address, in the old form, or those to which all filters apply.
func (c *session) clientKill(args [][]byte) {
	if len(args) == 1 {
		if c.kill(func(s *session) bool { return s.conn.RemoteAddr() == string(args[0]) }) == 0 {
			c.reply.error("ERR No such client")
			return
		}
		c.reply.status("OK")
		return
	}
	filters, err := c.killFilters(args)
	if err != "" {
		c.reply.error(err)
		return
	}
	c.reply.int(int64(c.kill(func(s *session) bool {
		return !slices.ContainsFunc(filters, func(match func(*session) bool) bool { return !match(s) })
	})))
}

// killFilters reads pairs of a filter and its value. Unless told otherwise, whoever asks is spared.
func (c *session) killFilters(args [][]byte) (filters []func(*session) bool, err string) {
	spareMe := true
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return nil, errSyntax
		}
		value := string(args[1])
		switch {
		case isOneOf(args[0], "id"):
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id <= 0 {
				return nil, "ERR client-id should be greater than 0"
			}
			filters = append(filters, func(s *session) bool { return s.id == id })
		case isOneOf(args[0], "type"):
			kind, ok := kindOfClient(args[1])
			if !ok {
				return nil, errKind(args[1])
			}
			filters = append(filters, ofKind(kind))
		case isOneOf(args[0], "addr"):
			filters = append(filters, func(s *session) bool { return s.conn.RemoteAddr() == value })
		case isOneOf(args[0], "laddr"):
			filters = append(filters, func(s *session) bool { return s.localAddr() == value })
		case isOneOf(args[0], "user"):
			if value != "default" {
				return nil, "ERR No such user '" + commands.OneLine(value) + "'"
			}
		case isOneOf(args[0], "skipme") && isOneOf(args[1], "yes", "no"):
			spareMe = isOneOf(args[1], "yes")
		default:
			return nil, errSyntax
		}
	}
	if spareMe {
		filters = append(filters, func(s *session) bool { return s != c })
	}
	return filters, ""
}

// kill closes the sockets of the sessions that match; their goroutines find out by themselves. Who kills itself gets its answer
// before.
func (c *session) kill(match func(*session) bool) int {
	killed := c.server.matching(match)
	for _, s := range killed {
		if s == c {
			c.quit = true
			continue
		}
		go s.conn.NetConn().Close() // it may wait for a farewell of TLS
	}
	return len(killed)
}
