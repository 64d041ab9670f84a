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
	proto                 int
}

const errName = "ERR Client names cannot contain spaces, newlines or special characters."

// validName: printable ASCII without spaces, as Redis wants it, and not too long.
func validName(s string) bool {
	if len(s) > maxInfo {
		return false
	}
	for i := range len(s) {
		if s[i] < '!' || s[i] > '~' {
			return false
		}
	}
	return true
}

func (c *session) rename(name string) {
	c.mu.Lock()
	c.about.name = name
	c.mu.Unlock()
}

// note the first command of a batch, for CLIENT LIST.
func (c *session) note(cmd redcon.Command) {
	name := commands.NameOf(cmd.Args[0])
	if _, known := commands.SpecOf(name); !known {
		name = "unknown" // what a client made up could forge a line of the list
	}
	c.mu.Lock()
	c.about.last = name
	c.about.heard = time.Now()
	c.about.proto = c.reply.proto
	c.mu.Unlock()
}

// client answers CLIENT and its subcommands.
func (c *session) client(args [][]byte) {
	r := &c.reply
	sub := strings.ToLower(string(args[1]))
	want, known := clientArity[sub]
	switch {
	case !known:
		r.error(commands.UnknownSubcommand(args).Error())
		return
	case want > 0 && len(args) != want || len(args) < -want:
		r.error(commands.WrongArity("client|" + sub).Error())
		return
	}
	switch sub {
	case "id":
		r.int(c.id)
	case "getname":
		c.getName()
	case "setname":
		c.setName(string(args[2]))
	case "setinfo":
		c.setInfo(strings.ToLower(string(args[2])), string(args[3]))
	case "info":
		r.verbatim(c.line() + "\n")
	case "list":
		r.verbatim(c.server.list())
	case "getredir":
		r.int(-1)
	case "no-evict", "no-touch":
		c.onOff(args[2], true)
	case "tracking":
		c.onOff(args[2], false)
	case "reply":
		if !isOneOf(args[2], "on") {
			r.error(commands.Unsupported("CLIENT REPLY other than ON").Error())
			return
		}
		r.status("OK")
	case "kill":
		c.kill(args[2:])
	case "help":
		r.array(len(clientHelp))
		for _, line := range clientHelp {
			r.status(line)
		}
	}
}

var clientArity = map[string]int{
	"id": 2, "getname": 2, "setname": 3, "setinfo": 4, "info": 2, "list": -2, "getredir": 2,
	"no-evict": 3, "no-touch": 3, "tracking": -3, "reply": 3, "kill": -3, "help": 2,
}

var clientHelp = []string{
	"CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"GETNAME, GETREDIR, ID, INFO, KILL <addr> | ID <id>, LIST, NO-EVICT, NO-TOUCH,",
	"REPLY ON, SETINFO <option> <value>, SETNAME <name>, TRACKING OFF.",
}

func (c *session) getName() {
	c.mu.Lock()
	name := c.about.name
	c.mu.Unlock()
	if name == "" {
		c.reply.null()
		return
	}
	c.reply.text(name)
}

func (c *session) setName(name string) {
	if !validName(name) {
		c.reply.error(errName)
		return
	}
	c.rename(name)
	c.reply.status("OK")
}

// maxInfo bounds what a connection can make us remember of it, in bytes a field.
const maxInfo = 256

func (c *session) setInfo(option, value string) {
	if !validName(value) {
		c.reply.error("ERR " + option + " cannot contain spaces, newlines or special characters.")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch option {
	case "lib-name":
		c.about.lib = value
	case "lib-ver":
		c.about.libVersion = value
	default:
		c.reply.error("ERR Unrecognized option '" + commands.OneLine(option) + "'")
		return
	}
	c.reply.status("OK")
}

// onOff answers a switch that changes nothing here, or whose ON we can not do.
func (c *session) onOff(word []byte, on bool) {
	switch {
	case isOneOf(word, "off"), on && isOneOf(word, "on"):
		c.reply.status("OK")
	case isOneOf(word, "on"):
		c.reply.error(commands.Unsupported("CLIENT TRACKING ON").Error())
	default:
		c.reply.error("ERR syntax error")
	}
}

// kill closes the connection with an address, in the old form, or with ID or ADDR.
func (c *session) kill(args [][]byte) {
	match := func(s *session) bool { return s.conn.RemoteAddr() == string(args[0]) }
	switch {
	case len(args) == 2 && isOneOf(args[0], "id"):
		id, err := strconv.ParseInt(string(args[1]), 10, 64)
		if err != nil || id <= 0 {
			c.reply.error("ERR client-id should be greater than 0")
			return
		}
		match = func(s *session) bool { return s.id == id }
	case len(args) == 2 && isOneOf(args[0], "addr"):
		match = func(s *session) bool { return s.conn.RemoteAddr() == string(args[1]) }
	case len(args) > 1:
		c.reply.error("ERR syntax error")
		return
	}
	killed := c.server.kill(match)
	switch {
	case len(args) == 2:
		c.reply.int(int64(killed))
	case killed == 0:
		c.reply.error("ERR No such client")
	default:
		c.reply.status("OK")
	}
}

// kill closes the sockets of the sessions that match. Their goroutines find out by themselves.
func (s *Server) kill(match func(*session) bool) (killed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		if match(c) {
			go c.conn.NetConn().Close()
			killed++
		}
	}
	return killed
}

// line is this connection in CLIENT LIST.
func (c *session) line() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	idle := 0
	if !c.about.heard.IsZero() {
		idle = int(now.Sub(c.about.heard).Seconds())
	}
	// Clients read the fields by name and miss those that are not there: zero where there is nothing to say.
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 "+
		"qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r "+
		"cmd=%s user=default redir=-1 resp=%d lib-name=%s lib-ver=%s",
		c.id, c.conn.RemoteAddr(), c.conn.NetConn().LocalAddr(), c.about.name, int(now.Sub(c.begun).Seconds()), idle,
		c.about.last, c.about.proto, c.about.lib, c.about.libVersion)
}

func (s *Server) list() string {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, c := range s.sessions {
		all = append(all, c)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *session) int { return int(a.id - b.id) })
	var b strings.Builder
	for _, c := range all {
		b.WriteString(c.line())
		b.WriteByte('\n')
	}
	return b.String()
}
