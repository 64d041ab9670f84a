package commands

import (
	"slices"
	"strings"
)

// Sub is what COMMAND and HELP tell about a subcommand.
type Sub struct {
	Name            string
	Arity           int // with the name of the command and its own; negative: at least
	Syntax, Summary string
}

// Subs of a command, in the order of its help; nil for a command that has none.
func Subs(name string) []Sub { return subcommands[name] }

var subcommands = map[string][]Sub{
	"acl": {
		{"getuser", 3, "username", "What the user may do."},
		{"list", 2, "", "The users and what they may do."},
		{"log", -2, "[count|RESET]", "Denied commands: none."},
		{"users", 2, "", "The names of the users."},
		{"whoami", 2, "", "The name of the connection's user."},
	},
	"client": {
		{"caching", 3, "YES|NO", "Refused: there is no client-side caching."},
		{"capa", -3, "capability...", "What the client can do; nothing here depends on it."},
		{"getname", 2, "", "The name of the connection."},
		{"getredir", 2, "", "Where invalidations go: nowhere."},
		{"id", 2, "", "The id of the connection."},
		{"info", 2, "", "About the connection."},
		{"kill", -3, "[ip:port] [ID client-id] [TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME <YES|NO>]", "Close connections."},
		{"list", -2, "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id...]", "About all connections."},
		{"no-evict", 3, "ON|OFF", "Nothing is evicted."},
		{"no-touch", 3, "ON|OFF", "Nothing is evicted by its last use."},
		{"pause", -3, "timeout [WRITE|ALL]", "Refused: clients are not paused."},
		{"reply", 3, "ON|OFF|SKIP", "Answer commands, or do not."},
		{"setinfo", 4, "<LIB-NAME libname|LIB-VER libver>", "Name the client library."},
		{"setname", 3, "connection-name", "Name the connection."},
		{"tracking", -3, "OFF", "Refused if ON: there is no client-side caching."},
		{"trackinginfo", 2, "", "About client-side caching: off."},
		{"unblock", -3, "client-id [TIMEOUT|ERROR]", "Nobody is blocked."},
		{"unpause", 2, "", "Nobody is paused."},
	},
	"cluster": {
		{"countkeysinslot", 3, "slot", noCluster}, {"getkeysinslot", 4, "slot count", noCluster},
		{"info", 2, "", noCluster}, {"keyslot", 3, "key", noCluster}, {"links", 2, "", noCluster}, {"meet", -4, "ip port", noCluster},
		{"myid", 2, "", noCluster}, {"myshardid", 2, "", noCluster}, {"nodes", 2, "", noCluster}, {"replicas", 3, "node-id", noCluster},
		{"reset", -2, "", noCluster}, {"shards", 2, "", noCluster}, {"slaves", 3, "node-id", noCluster}, {"slots", 2, "", noCluster},
	},
	"command": {
		{"count", 2, "", "How many commands there are."},
		{"docs", -2, "[command-name...]", "Documentation of commands."},
		{"getkeys", -3, "command [arg...]", "The keys of a command."},
		{"info", -2, "[command-name...]", "About commands."},
		{"list", -2, "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]", "The names of the commands."},
	},
	"config": {
		{"get", -3, "parameter...", "Read the configuration, by glob-style patterns."},
		{"resetstat", 2, "", "Refused: counters are never set back."},
		{"rewrite", 2, "", "Refused: there is no file to write."},
		{"set", -4, "<parameter value>...", "Refused, but to the value that is set: options are set at start."},
	},
	"function": {
		{"delete", 3, "library-name", "There are no functions."},
		{"dump", 2, "", "Refused: there are no functions."},
		{"flush", -2, "[ASYNC|SYNC]", "There are no functions."},
		{"kill", 2, "", "No function runs."},
		{"list", -2, "[LIBRARYNAME library-name-pattern] [WITHCODE]", "There are no functions."},
		{"load", -3, "[REPLACE] function-code", "Refused: there are no functions."},
		{"restore", -3, "serialized-value [FLUSH|APPEND|REPLACE]", "Refused: there are no functions."},
		{"stats", 2, "", "No function runs."},
	},
	"latency": {
		{"doctor", 2, "", "A report for people."},
		{"graph", 3, "event", "There are no samples."},
		{"histogram", -2, "[command...]", "There are no samples."},
		{"history", 3, "event", "There are no samples."},
		{"latest", 2, "", "There are no samples."},
		{"reset", -2, "[event...]", "There are no samples."},
	},
	"memory": {
		{"doctor", 2, "", "A report for people."},
		{"malloc-stats", 2, "", "About the allocator."},
		{"purge", 2, "", "Give memory back to the system."},
		{"stats", 2, "", "About the memory of this server."},
		{"usage", -3, "key [SAMPLES count]", "About how many bytes a key takes on each node."},
	},
	"module": {
		{"list", 2, "", "There are no modules."}, {"load", -3, "path [arg...]", "Refused."}, {"unload", 3, "name", "Refused."},
	},
	"object": {
		{"encoding", 3, "key", "How a value is represented."},
		{"freq", 3, "key", "How often a key is used: not known."},
		{"idletime", 3, "key", "Seconds since the key was used: none."},
		{"refcount", 3, "key", "How many references there are to a value: one."},
	},
	"pubsub": {
		{"channels", -2, "[pattern]", "The channels that somebody here has subscribed to."},
		{"numpat", 2, "", "How many patterns are subscribed to."},
		{"numsub", -2, "[channel...]", "How many have subscribed to the channels."},
		{"shardchannels", -2, "[pattern]", "The shard channels that somebody here has subscribed to."},
		{"shardnumsub", -2, "[shardchannel...]", "How many have subscribed to the shard channels."},
	},
	"redlock": {
		{"admit", 3, "node", "Let a node vote again although too few others can teach it what it forgot."},
		{"nodes", 2, "", "What is known of every node."},
	},
	"script": {
		{"debug", 3, "YES|SYNC|NO", "Refused: scripts do not run here."},
		{"exists", -3, "sha1...", "Whether scripts are known."},
		{"flush", -2, "[ASYNC|SYNC]", "Forget all scripts."},
		{"kill", 2, "", "No script runs."},
		{"load", 3, "script", "Keep a script for EVALSHA."},
	},
	"slowlog": {
		{"get", -2, "[count]", "The slow commands: none is kept."},
		{"len", 2, "", "How many slow commands are kept: none."},
		{"reset", 2, "", "Forget the slow commands."},
	},
}

const noCluster = "There is no cluster."

func init() {
	for name, subs := range subcommands {
		help := Sub{"help", 2, "", "Print this help."}
		i, _ := slices.BinarySearchFunc(subs, help, func(a, b Sub) int { return strings.Compare(a.Name, b.Name) })
		subcommands[name] = slices.Insert(subs, i, help)
	}
}

// subOf finds the subcommand of a command that has some, and checks how many arguments there are. COMMAND alone has none.
func subOf(name string, args [][]byte) (sub string, err error) {
	subs := subcommands[name]
	if subs == nil || len(args) == 1 {
		return "", nil
	}
	word := NameOf(args[1])
	i := slices.IndexFunc(subs, func(s Sub) bool { return s.Name == word })
	if i < 0 {
		return "", UnknownSubcommand(args)
	}
	if !fits(subs[i].Arity, len(args)) {
		return "", WrongArity(name + "|" + word)
	}
	return word, nil
}

func fits(arity, n int) bool {
	if arity < 0 {
		return n >= -arity
	}
	return n == arity
}

// Full is the name of a command with that of its subcommand.
func (c *Command) Full() string { return full(c.Name, c.Sub) }

func full(name, sub string) string {
	if sub == "" {
		return name
	}
	return name + "|" + sub
}

// Known is the full name of what was sent, as far as we know it; "unknown" otherwise: what a client made up could
// forge a line of a list.
func Known(args [][]byte) string {
	spec := specOf(args[0])
	if spec == nil {
		return "unknown"
	}
	sub, _ := subOf(spec.Name, args)
	return full(spec.Name, sub)
}
