package proxy

import (
	"strconv"

	"redlockd/commands"
)

const errName = "ERR Client names cannot contain spaces, newlines or special characters."

// maxInfo bounds what a connection can make us remember of it, in bytes a field.
const maxInfo = 256

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

// client answers CLIENT and its subcommands.
func (c *session) client(cmd *commands.Command) {
	r, args := &c.reply, cmd.Args[2:]
	switch cmd.Sub {
	case "id":
		r.int(c.id)
	case "getname":
		if name := c.name(); name != "" {
			r.text(name)
		} else {
			r.null()
		}
	case "setname":
		c.setName(string(args[0]))
	case "setinfo":
		c.setInfo(string(args[0]), string(args[1]))
	case "info":
		r.verbatim(c.line() + "\n")
	case "list":
		c.clientList(args)
	case "kill":
		c.clientKill(args)
	case "reply":
		c.clientReply(args[0])
	case "no-evict", "no-touch":
		c.okIf(isOneOf(args[0], "on", "off"))
	case "tracking":
		c.tracking(args[0])
	case "trackinginfo":
		c.trackingInfo()
	case "caching":
		r.error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case "getredir":
		r.int(-1)
	case "pause":
		c.pause(args)
	case "unblock":
		c.unblock(args)
	case "capa", "unpause":
		r.status("OK")
	}
}

// okIf answers a switch that changes nothing here.
func (c *session) okIf(known bool) {
	if known {
		c.reply.status("OK")
	} else {
		c.reply.error(errSyntax)
	}
}

const errSyntax = "ERR syntax error"

func (c *session) setName(name string) {
	if !validName(name) {
		c.reply.error(errName)
		return
	}
	c.rename(name)
	c.reply.status("OK")
}

func (c *session) setInfo(option, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var field *string
	switch {
	case isOneOf([]byte(option), "lib-name"):
		field = &c.about.lib
	case isOneOf([]byte(option), "lib-ver"):
		field = &c.about.libVersion
	default:
		c.reply.error("ERR Unrecognized option '" + commands.OneLine(option) + "'")
		return
	}
	if !validName(value) {
		c.reply.error("ERR " + option + " cannot contain spaces, newlines or special characters.")
		return
	}
	*field = value
	c.reply.status("OK")
}

// tracking: rueidis and valkey-go take any error for "set DisableCache", and say so to whoever reads it.
func (c *session) tracking(word []byte) {
	if isOneOf(word, "on") {
		c.reply.error(commands.Unsupported("client-side caching (CLIENT TRACKING ON): switch it off in the client").Error())
		return
	}
	c.okIf(isOneOf(word, "off"))
}

func (c *session) trackingInfo() {
	r := &c.reply
	r.header(3)
	r.text("flags")
	r.set(1)
	r.text("off")
	r.text("redirect")
	r.int(-1)
	r.text("prefixes")
	r.array(0)
}

// clientReply: OFF and SKIP are not answered themselves.
func (c *session) clientReply(word []byte) {
	switch {
	case isOneOf(word, "on"):
		c.mute = 0
		c.reply.status("OK")
	case isOneOf(word, "off"):
		c.mute = -1
	case isOneOf(word, "skip"):
		if c.mute >= 0 {
			c.mute = 2 // this one's and the next one's
		}
	default:
		c.reply.error(errSyntax)
	}
}

// pause is refused: whoever pauses clients relies on it.
func (c *session) pause(args [][]byte) {
	n, err := strconv.ParseInt(string(args[0]), 10, 64)
	switch {
	case len(args) > 2:
		c.reply.error(errSyntax)
	case len(args) == 2 && !isOneOf(args[1], "write", "all"):
		c.reply.error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	case err != nil:
		c.reply.error("ERR timeout is not an integer or out of range")
	case n < 0:
		c.reply.error("ERR timeout is negative")
	default:
		c.reply.error(commands.Unsupported("CLIENT PAUSE").Error())
	}
}

// unblock: nobody is blocked.
func (c *session) unblock(args [][]byte) {
	_, err := strconv.ParseInt(string(args[0]), 10, 64)
	switch {
	case len(args) > 2:
		c.reply.error(errSyntax)
	case len(args) == 2 && !isOneOf(args[1], "timeout", "error"):
		c.reply.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	case err != nil:
		c.reply.error("ERR value is not an integer or out of range")
	default:
		c.reply.int(0)
	}
}
