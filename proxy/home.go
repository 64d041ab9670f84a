package proxy

import (
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
	switch cmd.Verb {
	case commands.Ping:
		c.ping(args)
	case commands.Echo:
		r.bulk(args[1])
	case commands.Quit:
		r.status("OK")
	case commands.Reset:
		c.rename("")
		r.proto = 2
		r.status("RESET")
	case commands.Select:
		r.status("OK")
	case commands.Auth:
		c.auth(args[1:])
	case commands.Hello:
		c.hello(args[1:])
	case commands.Client:
		c.client(args)
	case commands.CommandInfo:
		c.commandInfo(args)
	case commands.Config:
		c.config(args)
	case commands.Info:
		r.verbatim(c.server.info(args[1:]))
	case commands.Time:
		now := time.Now()
		r.array(2)
		r.text(strconv.FormatInt(now.Unix(), 10))
		r.text(strconv.Itoa(now.Nanosecond() / 1000))
	case commands.Role:
		r.array(3)
		r.text("master")
		r.int(0)
		r.array(0)
	default:
		panic(fmt.Sprintf("proxy: no answer to verb %d", cmd.Verb))
	}
}

func (c *session) ping(args [][]byte) {
	switch len(args) {
	case 1:
		c.reply.status("PONG")
	case 2:
		c.reply.bulk(args[1])
	default:
		c.reply.error(commands.WrongArity("ping").Error())
	}
}

// databases is how many there are, as by Redis's default.
const databases = 16

// selectDB is carried out when it is read, so that what is pipelined behind it is about that database.
func (c *session) selectDB(arg []byte) error {
	switch db, err := strconv.Atoi(string(arg)); {
	case err != nil:
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

// hello is HELLO [version [AUTH user password] [SETNAME name]].
func (c *session) hello(args [][]byte) {
	proto, name := c.reply.proto, ""
	named := false
	if len(args) > 0 {
		v, err := strconv.Atoi(string(args[0]))
		switch {
		case err != nil:
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
		word := strings.ToUpper(string(args[0]))
		switch {
		case word == "AUTH" && len(args) >= 3:
			if string(args[1]) != "default" {
				c.reply.error(errWrongPass)
				return
			}
			args = args[3:]
		case word == "SETNAME" && len(args) >= 2:
			name, named = string(args[1]), true
			args = args[2:]
		default:
			c.reply.error("ERR Syntax error in HELLO option '" + commands.OneLine(string(args[0])) + "'")
			return
		}
	}
	if named && !validName(name) {
		c.reply.error(errName)
		return
	}
	if named {
		c.rename(name)
	}
	c.reply.proto = proto
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

// scriptAdmin carries out SCRIPT LOAD, EXISTS or FLUSH, and returns what writes the reply.
func (c *session) scriptAdmin(cmd *commands.Command) func(*reply) {
	scripts, args := c.server.Scripts, cmd.Args
	fail := func(text string) func(*reply) {
		return func(r *reply) { r.error(text) }
	}
	switch sub := strings.ToLower(string(args[1])); {
	case sub == "load" && len(args) == 3:
		sha, err := scripts.Load(args[2])
		if err != nil {
			return fail(err.Error())
		}
		return func(r *reply) { r.text(sha) }
	case sub == "exists" && len(args) >= 3:
		found := make([]int64, 0, len(args)-2)
		for _, sha := range args[2:] {
			n := int64(0)
			if scripts.Exists(string(sha)) {
				n = 1
			}
			found = append(found, n)
		}
		return func(r *reply) {
			r.array(len(found))
			for _, n := range found {
				r.int(n)
			}
		}
	case sub == "flush" && len(args) <= 3:
		if len(args) == 3 && !isOneOf(args[2], "sync", "async") {
			return fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
		}
		scripts.Flush()
		return func(r *reply) { r.status("OK") }
	case sub == "load" || sub == "exists" || sub == "flush":
		return fail(commands.WrongArity("script|" + sub).Error())
	default:
		return fail(commands.UnknownSubcommand(args).Error())
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
