package proxy

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"redlockd/commands"
)

// What Redis answers where something is switched off.
const (
	errNoCluster = "ERR This instance has cluster support disabled"
	errDisabled  = "ERR %s command not allowed. If the enable-%s-command option is set to \"local\", you can run it from a local connection, " +
		"otherwise you need to set this option in the configuration file, and then restart the server."
)

// admin answers what tools and clients ask every Redis, in Redis's words for there being nothing: no cluster, no slow
// commands, no functions. Nothing here has to do with locks, and nothing pretends to have been done.
func (c *session) admin(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Name {
	case "cluster", "asking", "readonly", "readwrite":
		r.error(errNoCluster)
	case "acl":
		c.acl(cmd)
	case "slowlog":
		c.slowlog(cmd)
	case "latency":
		c.latency(cmd)
	case "memory":
		c.memory(cmd)
	case "function":
		c.function(cmd)
	case "module":
		if cmd.Sub == "list" {
			r.array(0)
			return
		}
		r.error(fmt.Sprintf(errDisabled, "MODULE", "module"))
	case "debug":
		r.error(fmt.Sprintf(errDisabled, "DEBUG", "debug"))
	case "wait", "waitaof":
		c.wait(cmd)
	case "flushall", "flushdb":
		r.error(commands.Unsupported(strings.ToUpper(cmd.Name) + ": it would free every lock that somebody holds").Error())
	case "lolwut":
		r.verbatim("redlockd " + c.server.Version + ", which speaks for Redis ver. " + redisVersion + "\n")
	default:
		panic("proxy: no answer to " + cmd.Full())
	}
}

func (c *session) acl(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Sub {
	case "whoami":
		r.text("default")
	case "users":
		r.array(1)
		r.text("default")
	case "list":
		r.array(1)
		r.text("user default on nopass ~* &* +@all")
	case "log":
		if len(cmd.Args) == 3 && isOneOf(cmd.Args[2], "reset") {
			r.status("OK")
			return
		}
		r.array(0)
	case "getuser":
		if string(cmd.Args[2]) != "default" {
			r.null()
			return
		}
		r.header(6)
		r.text("flags")
		r.set(2)
		r.text("on")
		r.text("nopass")
		r.text("passwords")
		r.array(0)
		for _, pair := range [][2]string{{"commands", "+@all"}, {"keys", "~*"}, {"channels", "&*"}} {
			r.text(pair[0])
			r.text(pair[1])
		}
		r.text("selectors")
		r.array(0)
	}
}

func (c *session) slowlog(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Sub {
	case "get":
		switch {
		case len(cmd.Args) > 3:
			r.error(commands.WrongSubArity(cmd.Args).Error())
			return
		case len(cmd.Args) == 3:
			if n, err := strconv.Atoi(string(cmd.Args[2])); err != nil || n < -1 {
				r.error("ERR count should be greater than or equal to -1")
				return
			}
		}
		r.array(0)
	case "len":
		r.int(0)
	case "reset":
		r.status("OK")
	}
}

func (c *session) latency(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Sub {
	case "latest", "history":
		r.array(0)
	case "histogram":
		r.header(0)
	case "reset":
		r.int(0)
	case "graph":
		r.error("ERR No samples available for event '" + commands.OneLine(string(cmd.Args[2])) + "'")
	case "doctor":
		r.verbatim("redlockd keeps no latency samples. INFO redlock tells how long each node takes to answer.\n")
	}
}

func (c *session) memory(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Sub {
	case "doctor":
		r.verbatim("redlockd keeps no data in memory: the locks are on the nodes.\n")
	case "purge":
		go debug.FreeOSMemory() // it takes a garbage collection
		r.status("OK")
	case "malloc-stats":
		r.verbatim("go " + runtime.Version() + ", total bytes " + strconv.FormatUint(usedMemory(), 10) + "\n")
	case "stats":
		r.header(2)
		r.text("total.allocated")
		r.int(int64(usedMemory()))
		r.text("keys.count")
		r.int(0)
	}
}

func usedMemory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (c *session) function(cmd *commands.Command) {
	r := &c.reply
	switch cmd.Sub {
	case "list":
		c.functionList(cmd.Args[2:])
	case "flush":
		switch {
		case len(cmd.Args) > 3:
			r.error(commands.WrongArity("function|flush").Error())
		case len(cmd.Args) == 3 && !isOneOf(cmd.Args[2], "sync", "async"):
			r.error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		default:
			r.status("OK")
		}
	case "stats":
		r.header(2)
		r.text("running_script")
		r.null()
		r.text("engines")
		r.header(0)
	case "kill":
		r.error("NOTBUSY No scripts in execution right now.")
	case "delete":
		r.error("ERR Library not found")
	default:
		r.error(commands.Unsupported("functions").Error())
	}
}

func (c *session) functionList(args [][]byte) {
	for len(args) > 0 {
		switch {
		case isOneOf(args[0], "withcode"):
			args = args[1:]
		case isOneOf(args[0], "libraryname") && len(args) > 1:
			args = args[2:]
		case isOneOf(args[0], "libraryname"):
			c.reply.error("ERR library name argument was not given")
			return
		default:
			c.reply.error("ERR Unknown argument " + commands.OneLine(string(args[0])))
			return
		}
	}
	c.reply.array(0)
}

// wait is WAIT numreplicas timeout, and WAITAOF numlocal numreplicas timeout: there are no replicas, and we write no file.
func (c *session) wait(cmd *commands.Command) {
	r, args := &c.reply, cmd.Args[1:]
	timeout := args[len(args)-1]
	for _, arg := range args[:len(args)-1] {
		if n, err := strconv.Atoi(string(arg)); err != nil || cmd.Name == "waitaof" && (n < 0 || n > math.MaxInt32) {
			r.error("ERR value is not an integer or out of range")
			return
		}
	}
	switch n, err := strconv.ParseInt(string(timeout), 10, 64); {
	case err != nil:
		r.error("ERR timeout is not an integer or out of range")
	case n < 0:
		r.error("ERR timeout is negative")
	case cmd.Name == "wait":
		r.int(0)
	case string(args[0]) != "0":
		r.error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	default:
		r.array(2)
		r.int(0)
		r.int(0)
	}
}
