package proxy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlockd/commands"
)

// home answers what is about the connection and about us, so that unmodified clients feel at
// home: nothing here has to do with locks.
func (c *session) home(cmd *commands.Command) {
	r, args := &c.reply, cmd.Args
	if cmd.Sub == "help" {
		c.help(cmd.Name)
		return
	}
	switch cmd.Verb {
	case commands.Ping:
		c.ping(args)
	case commands.Echo:
		r.bulk(args[1])
	case commands.Quit:
		r.status("OK")
	case commands.Reset:
		c.reset()
	case commands.Select:
		r.status("OK")
	case commands.Auth:
		c.auth(args[1:])
	case commands.Hello:
		c.hello(args[1:])
	case commands.Client:
		c.client(cmd)
	case commands.CommandInfo:
		c.commandInfo(cmd)
	case commands.Config:
		c.config(cmd)
	case commands.Info:
		r.verbatim(c.server.info(args[1:]))
	case commands.Time:
		now := time.Now()
		r.array(2)
		r.text(strconv.FormatInt(now.Unix(), 10))
		r.text(strconv.Itoa(now.Nanosecond() / 1000))
	case commands.Subscribe:
		c.subscribe(cmd)
	case commands.Unsubscribe:
		c.unsubscribe(cmd)
	case commands.Publish:
		c.publish(cmd)
	case commands.PubSub:
		c.pubsub(cmd)
	case commands.Admin:
		c.admin(cmd)
	case commands.Role:
		r.array(3)
		r.text("master")
		r.int(0)
		r.array(0)
	default:
		panic(fmt.Sprintf("proxy: no answer to verb %d", cmd.Verb))
	}
}

// ping: a subscriber gets an answer that looks like a message.
func (c *session) ping(args [][]byte) {
	r := &c.reply
	switch {
	case len(args) > 2:
		r.error(commands.WrongArity("ping").Error())
	case c.isSubscriber():
		r.array(2)
		r.text("pong")
		r.bulk(append([]byte{}, bytes.Join(args[1:], nil)...))
	case len(args) == 2:
		r.bulk(args[1])
	default:
		r.status("PONG")
	}
}

func (c *session) reset() {
	c.leaveAll()
	c.receive() // what was published before comes before
	c.noteSubscriptions()
	c.rename("")
	c.setProto(2)
	c.mute = 0
	c.reply.status("RESET")
}

func (c *session) setProto(proto int) {
	c.reply.proto = proto
	if c.subs.to != nil {
		c.subs.to.speak(proto)
	}
}

// databases is how many there are, as by Redis's default.
const databases = 16

// selectDB is carried out when it is read, so that what is pipelined behind it is about that database.
func (c *session) selectDB(arg []byte) error {
	switch db, err := strconv.Atoi(string(arg)); {
	case err != nil || strconv.Itoa(db) != string(arg): // no plus, no leading zeros
		return commands.Error("ERR value is not an integer or out of range")
	case db < 0 || db >= databases:
		return commands.Error("ERR DB index is out of range")
	default:
		c.db = db
		return nil
	}
}

// auth answers as a Redis without passwords does.
func (c *session) auth(args [][]byte) {
	switch {
	case len(args) == 1:
		c.reply.error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	case len(args) > 2:
		c.reply.error("ERR syntax error")
	case string(args[0]) != "default":
		c.reply.error(errWrongPass)
	default:
		c.reply.status("OK")
	}
}

const errWrongPass = "WRONGPASS invalid username-password pair or user is disabled."

// hello is HELLO [version [AUTH user password] [SETNAME name]]. Nothing has changed if something is wrong.
func (c *session) hello(args [][]byte) {
	proto, user, name := c.reply.proto, "default", c.name()
	if len(args) > 0 {
		v, err := strconv.Atoi(string(args[0]))
		switch {
		case err != nil || strconv.Itoa(v) != string(args[0]):
			c.reply.error("ERR Protocol version is not an integer or out of range")
			return
		case v != 2 && v != 3:
			c.reply.error("NOPROTO unsupported protocol version")
			return
		}
		proto = v
		args = args[1:]
	}
	for len(args) > 0 {
		switch {
		case isOneOf(args[0], "auth") && len(args) >= 3:
			user, args = string(args[1]), args[3:]
		case isOneOf(args[0], "setname") && len(args) >= 2:
			name, args = string(args[1]), args[2:]
			if !validName(name) {
				c.reply.error(errName)
				return
			}
		default:
			c.reply.error("ERR Syntax error in HELLO option '" + commands.OneLine(string(args[0])) + "'")
			return
		}
	}
	if user != "default" {
		c.reply.error(errWrongPass)
		return
	}
	c.rename(name)
	c.setProto(proto)
	c.greeting()
}

func (c *session) greeting() {
	r := &c.reply
	r.header(7)
	r.text("server")
	r.text("redis")
	r.text("version")
	r.text(redisVersion)
	r.text("proto")
	r.int(int64(r.proto))
	r.text("id")
	r.int(c.id)
	r.text("mode")
	r.text("standalone")
	r.text("role")
	r.text("master")
	r.text("modules")
	r.array(0)
}

// scriptAdmin carries out a SCRIPT subcommand, and returns what writes the reply.
func (c *session) scriptAdmin(cmd *commands.Command) func(*reply) {
	scripts, args, name := c.server.Scripts, cmd.Args, cmd.Name
	switch cmd.Sub {
	case "load":
		c.beforeLong() // compiling takes its time
		sha, err := scripts.Load(args[2])
		if err != nil {
			return failed(err)
		}
		return func(r *reply) { r.text(sha) }
	case "exists":
		found := make([]bool, 0, len(args)-2)
		for _, sha := range args[2:] {
			found = append(found, scripts.Exists(string(sha)))
		}
		return func(r *reply) { r.bools(found) }
	case "flush":
		if len(args) > 3 || len(args) == 3 && !isOneOf(args[2], "sync", "async") {
			return failed(commands.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option"))
		}
		scripts.Flush()
		return ok
	case "kill":
		return failed(commands.Error("NOTBUSY No scripts in execution right now."))
	case "debug":
		return failed(commands.Unsupported("SCRIPT DEBUG: scripts do not run here"))
	default:
		return func(*reply) { c.help(name) }
	}
}

func isOneOf(arg []byte, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(string(arg), w) {
			return true
		}
	}
	return false
}
