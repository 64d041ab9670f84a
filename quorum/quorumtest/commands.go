package quorumtest

import (
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// command is one that nodes know.
type command struct {
	least  int  // words, its name being the first
	writes bool // so that Refuse refuses it
	apart  bool // scripts may not call it
	// run is called with n.mu held. The connection is nil in a script.
	run func(n *Node, c net.Conn, args []string) string
}

var commands map[string]command

func init() { // eval looks into it, and is in it
	commands = map[string]command{
		"CLIENT":   {2, false, true, (*Node).clientCommand},
		"CONFIG":   {3, false, true, (*Node).configCommand},
		"DBSIZE":   {1, false, false, (*Node).sizeCommand},
		"DEL":      {2, true, false, (*Node).delCommand},
		"ECHO":     {2, false, false, func(_ *Node, _ net.Conn, args []string) string { return bulkReply(args[1]) }},
		"EVAL":     {3, true, true, (*Node).evalCommand},
		"EVALSHA":  {3, true, true, (*Node).evalCommand},
		"EXISTS":   {2, false, false, (*Node).existsCommand},
		"FLUSHALL": {1, true, false, (*Node).flushCommand},
		"FLUSHDB":  {1, true, false, (*Node).flushCommand},
		"GET":      {2, false, false, (*Node).getCommand},
		"INFO":     {1, false, false, (*Node).infoCommand},
		"MGET":     {2, false, false, (*Node).mgetCommand},
		"PEXPIRE":  {3, true, false, (*Node).pexpireCommand},
		"PING":     {1, false, false, (*Node).pingCommand},
		"PTTL":     {2, false, false, (*Node).pttlCommand},
		"SCAN":     {2, false, false, (*Node).scanCommand},
		"SCRIPT":   {2, false, true, (*Node).scriptCommand},
		"SELECT":   {2, false, false, (*Node).selectCommand},
		"SET":      {3, true, false, (*Node).setCommand},
		"STRLEN":   {2, false, false, (*Node).strlenCommand},
		"TIME":     {1, false, false, (*Node).timeCommand},
		"UNLINK":   {2, true, false, (*Node).delCommand},
	}
}

// execute carries out a command that came over c, with n.mu held.
func (n *Node) execute(args []string, c net.Conn) []byte {
	args[0] = strings.ToUpper(args[0])
	n.seen = append(n.seen, args)
	return []byte(n.carryOut(args, c))
}

// Do carries out a command that came over no connection, and returns the reply as it would be on the wire.
func (n *Node) Do(args []string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.carryOut(args, direct{})
}

// direct is the connection of Do.
type direct struct{ net.Conn }

// carryOut a command of a connection, or of a script if that is nil.
func (n *Node) carryOut(args []string, c net.Conn) string {
	name := strings.ToUpper(args[0])
	known, ok := commands[name]
	switch {
	case !ok && c == nil:
		return errorReply("ERR Unknown Redis command called from script")
	case !ok:
		return errorReply("ERR unknown command '" + args[0] + "'")
	case len(args) < known.least:
		return errorReply("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
	case c == nil && known.apart:
		return errorReply("ERR This Redis command is not allowed from script")
	case n.refuse != "" && known.writes:
		return errorReply(n.refuse)
	}
	return known.run(n, c, args)
}

func (n *Node) pingCommand(_ net.Conn, args []string) string {
	if len(args) > 1 {
		return bulkReply(args[1])
	}
	return "+PONG\r\n"
}

// selectCommand: there is one database.
func (n *Node) selectCommand(_ net.Conn, args []string) string {
	if args[1] != "0" {
		return errorReply("ERR DB index is out of range")
	}
	return okReply
}

func (n *Node) timeCommand(net.Conn, []string) string {
	now := n.clock.now()
	return bulks([]string{strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond() / 1000)})
}

func (n *Node) getCommand(_ net.Conn, args []string) string {
	if e, ok := n.store.get(args[1]); ok {
		return bulkReply(e.value)
	}
	return nilReply
}

func (n *Node) mgetCommand(_ net.Conn, args []string) string {
	out := "*" + strconv.Itoa(len(args)-1) + "\r\n"
	for _, key := range args[1:] {
		out += n.getCommand(nil, []string{"GET", key})
	}
	return out
}

func (n *Node) strlenCommand(_ net.Conn, args []string) string {
	e, _ := n.store.get(args[1])
	return intReply(int64(len(e.value)))
}

func (n *Node) pttlCommand(_ net.Conn, args []string) string {
	return intReply(n.store.pttl(args[1]))
}

func (n *Node) sizeCommand(net.Conn, []string) string {
	size, _ := n.store.count()
	return intReply(int64(size))
}

func (n *Node) existsCommand(_ net.Conn, args []string) string {
	var found int64
	for _, key := range args[1:] {
		if _, ok := n.store.get(key); ok {
			found++
		}
	}
	return intReply(found)
}

func (n *Node) delCommand(_ net.Conn, args []string) string {
	var found int64
	for _, key := range args[1:] {
		if n.store.remove(key) {
			found++
		}
	}
	return intReply(found)
}

func (n *Node) flushCommand(net.Conn, []string) string {
	n.store.flush()
	return okReply
}

func (n *Node) pexpireCommand(_ net.Conn, args []string) string {
	ms, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return errorReply(notANumber)
	}
	if len(args) > 3 {
		return errorReply("ERR Unsupported option " + args[3])
	}
	e, ok := n.store.get(args[1])
	switch {
	case !ok:
		return intReply(0)
	case ms > maxMillis:
		return errorReply("ERR invalid expire time in 'pexpire' command")
	case ms <= 0:
		n.store.remove(args[1])
	default:
		n.store.set(args[1], e.value, time.Duration(ms)*time.Millisecond)
	}
	return intReply(1)
}

// maxMillis is as many as fit a Duration. A real node's limit is the same order of magnitude.
const maxMillis = int64(math.MaxInt64 / time.Millisecond)

// setOptions is what follows the value in SET.
type setOptions struct {
	nx, xx, keep bool
	life         time.Duration // zero: none was said
}

// parseSet returns what is wrong as the text of an error.
func parseSet(words []string) (o setOptions, wrong string) {
	for i := 0; i < len(words); i++ {
		switch strings.ToUpper(words[i]) {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "KEEPTTL":
			o.keep = true
		case "PX":
			i++
			if i == len(words) || o.life != 0 {
				return o, syntax
			}
			ms, err := strconv.ParseInt(words[i], 10, 64)
			if err != nil {
				return o, notANumber
			}
			if ms <= 0 || ms > maxMillis {
				return o, "ERR invalid expire time in 'set' command"
			}
			o.life = time.Duration(ms) * time.Millisecond
		default:
			return o, syntax
		}
	}
	if o.nx && o.xx || o.keep && o.life != 0 {
		return o, syntax
	}
	return o, ""
}

func (n *Node) setCommand(_ net.Conn, args []string) string {
	o, wrong := parseSet(args[3:])
	if wrong != "" {
		return errorReply(wrong)
	}
	old, exists := n.store.get(args[1])
	if o.nx && exists || o.xx && !exists {
		return nilReply
	}
	if o.keep && exists {
		n.store.put(args[1], entry{value: args[2], ends: old.ends})
	} else {
		n.store.set(args[1], args[2], o.life)
	}
	return okReply
}

func (n *Node) scanCommand(_ net.Conn, args []string) string {
	cursor, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return errorReply("ERR invalid cursor")
	}
	count, pattern, kind := 10, "*", "string"
	for i := 2; i < len(args); i += 2 {
		if i+1 == len(args) {
			return errorReply(syntax)
		}
		switch word := args[i+1]; strings.ToUpper(args[i]) {
		case "COUNT":
			if count, err = strconv.Atoi(word); err != nil {
				return errorReply(notANumber)
			}
			if count < 1 {
				return errorReply(syntax)
			}
		case "MATCH":
			pattern = word
		case "TYPE":
			kind = strings.ToLower(word)
		default:
			return errorReply(syntax)
		}
	}
	keys, next := n.store.scan(cursor, count)
	var found []string
	for _, key := range keys {
		if kind == "string" && match(pattern, key) { // there are no other kinds
			found = append(found, key)
		}
	}
	return "*2\r\n" + bulkReply(strconv.FormatUint(next, 10)) + bulks(found)
}
