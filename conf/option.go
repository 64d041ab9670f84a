package conf

import (
	"log/slog"
	"strings"
	"time"
)

// option is one row of the table. def, why and choose are the words of --help; why tells the reason for the default.
type option struct {
	name string // of the flag and of the key in a file; lower case, with dashes
	setting
	def         string // as a user would write it; "" leaves the field empty
	example     string // for --help, where def is ""
	why, choose string // a flagOnly option asks for something: choose says what, and there is no default to explain
	from        sources
}

// sources says where an option may be given. The zero value, everywhere, is the rule.
type sources int

const (
	everywhere sources = iota
	notInFile          // the file cannot say which file to read
	flagOnly           // asks for one thing to be done once; not a state to be left lying about
)

// variable is the option's name in the environment.
func (o option) variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
}

// group is a part of the table, for --help.
type group struct {
	title   string
	options []option
}

// table is every option there is, bound to the fields of c.
func table(c *Config) []group {
	return []group{
		{"nodes", nodeOptions(c)},
		{"locks", lockOptions(c)},
		{"clients", clientOptions(c)},
		{"process", processOptions(c)},
	}
}

const (
	kib = 1 << 10
	mib = 1 << 20
	day = 24 * time.Hour
)

func nodeOptions(c *Config) []option {
	return []option{
		{name: "nodes", setting: nodes(&c.Nodes), example: "10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379",
			why:    "without any, an embedded demo fleet is started, so that a first try needs nothing else",
			choose: "an odd number of masters that fail independently (machines, power, zones): 3 survive one failure, 5 survive two; the same list on every redlockd of a fleet"},
		{name: "node-timeout", setting: duration(&c.NodeTimeout, time.Millisecond, 10*time.Second), def: "50ms",
			why:    "R12: far below the ttl of any lock, so that a node that is down or hung delays nobody; counted from when the node was written to and from its latest word, so that a busy one is not taken for hung",
			choose: "several times the slowest round trip to a healthy node, say five times its 99.9th percentile"},
		{name: "node-silence", setting: duration(&c.NodeSilence, 10*time.Millisecond, time.Minute), def: "5s",
			why:    "a node that owes answers and sends nothing for this long is dialled anew (it is not asked any more after four node-timeouts, so that it costs nothing meanwhile); what it was sent before is still undone when it answers late",
			choose: "longer than the longest pause a healthy node makes (fork for a snapshot, slow disk); shorter finds a node behind a new address sooner"},
		{name: "dial-timeout", setting: duration(&c.DialTimeout, 10*time.Millisecond, time.Minute), def: "1s",
			why:    "a live node answers within a few round trips, and no client waits for a dial, so there is time",
			choose: "longer than a connection takes to set up, authentication included"},
		{name: "reconnect-min", setting: duration(&c.ReconnectMin, time.Millisecond, time.Minute), def: "50ms",
			why:    "a node that was only restarted is back within a moment",
			choose: "the shortest outage worth noticing"},
		{name: "reconnect-max", setting: duration(&c.ReconnectMax, time.Millisecond, 10*time.Minute), def: "2s",
			why:    "the pause doubles up to here, with jitter, so that a node coming back is not met by every redlockd at once",
			choose: "how long a node that is back may remain unused"},
		{name: "pipe-queue", setting: count(&c.PipeQueue, 1, 1<<20, "requests"), def: "65536",
			why:    "seconds of full load; past it a node's vote is unknown at once, and memory stays bounded",
			choose: "max-clients times the commands each has in flight"},
		{name: "owed-per-node", setting: count(&c.OwedPerNode, 1, 1<<20, "requests"), def: "16384",
			why:    "undo and release requests kept for a node that is away, each until its lock's ttl has passed; past it the lock there waits for its ttl",
			choose: "releases per second times the seconds of an outage worth covering"},
		{name: "clock-tolerance", setting: duration(&c.ClockTolerance, 10*time.Millisecond, time.Minute), def: "500ms",
			why:    "R24: a node whose clock seems to have jumped by more since it was last vouched for, by the wall clocks of this redlockd and of the one that vouched, is taught anew when redlockd connects; jumps while it is connected are seen to a few milliseconds",
			choose: "several times the error of the wall clocks (NTP keeps them within tens of milliseconds)"},
	}
}

func lockOptions(c *Config) []option {
	return []option{
		{name: "max-ttl", setting: duration(&c.MaxTTL, time.Second, 365*day), def: "24h",
			why:    "R8: every lock ends; a take without an expiry, or with a longer one, gets this. Laravel's scheduler locks live 24h",
			choose: "the longest job that holds a lock, the same number on every redlockd of a fleet; the shorter, the sooner a lock that nobody released is free"},
		{name: "over-ttl", setting: choice(&c.OverTTL, word[OverTTL]{"clamp", Clamp}, word[OverTTL]{"refuse", Refuse}), def: "clamp",
			why:    "clamp gives max-ttl and keeps SETNX followed by EXPIRE working; refuse answers an error",
			choose: "refuse, to find the applications that ask for more"},
		{name: "pad-ttl", setting: boolean(&c.PadTTL), def: "true",
			why:    "nodes are given ttl plus drift (R15), because unmodified clients subtract nothing: a client holds the lock for all of the ttl it asked for",
			choose: "false only where clients subtract drift themselves, as the classic client does"},
		{name: "round-limit", setting: duration(&c.RoundLimit, 10*time.Millisecond, time.Minute), def: "500ms",
			why:    "a round that took longer grants nothing; ten times node-timeout",
			choose: "the same number on every redlockd of a fleet; at least twice node-timeout"},
		{name: "rounds-in-flight", setting: count(&c.RoundsInFlight, 1, 1<<20, "rounds"), def: "1024",
			why:    "rounds without a verdict at a time; more wait before they are sent, so that an overload makes clients wait and not nodes answer too late; a pipeline waits for the room of all its rounds, up to a quarter of this, so that flushes stay large",
			choose: "rounds per second at full load times the round trip to the nodes, and some room; at most what the nodes can do within node-timeout"},
		{name: "split-retries", setting: count(&c.SplitRetries, 0, 10, "retries"), def: "3",
			why:    "R18: three tries in the classic client; a split vote among several redlockd is rarer with each",
			choose: "0 to tell the client at once that nobody won"},
		{name: "split-delay", setting: duration(&c.SplitDelay, time.Millisecond, time.Second), def: "20ms",
			why:    "R18: half to all of it, random, so that those who split the vote do not split it again; many round trips, yet short for a waiting client",
			choose: "ten times a round trip to the nodes"},
		{name: "max-key", setting: size(&c.MaxKey, 1, 16*mib), def: "4KiB",
			why:    "names of locks are short; a longer one is a mistake better told than stored",
			choose: "the longest name of a lock in use"},
		{name: "max-token", setting: size(&c.MaxToken, 1, 16*mib), def: "4KiB",
			why:    "a random token has 16 to 64 bytes, and the rest is room for clients that write more",
			choose: "the longest value an application locks with"},
		{name: "scripts", setting: count(&c.Scripts, 1, 1_000_000, "scripts"), def: "1000",
			why:    "an application has a handful; past it one is forgotten, and its next EVALSHA is answered NOSCRIPT, which clients know how to heal",
			choose: "more only where scripts are generated, one per call"},
		{name: "script-bytes", setting: size(&c.ScriptBytes, 64, mib), def: "16KiB",
			why:    "lock scripts in the wild stay below 4KiB; one longer than this is refused",
			choose: "the longest lock script in use; with scripts, it bounds the memory for them"},
	}
}

func clientOptions(c *Config) []option {
	return []option{
		{name: "listen", setting: address(&c.Listen), def: "127.0.0.1:6380",
			why:    "loopback, because there is no authentication yet; beside Redis's own 6379",
			choose: "a private address where only your applications reach it; port 0 lets the system choose"},
		{name: "max-clients", setting: count(&c.MaxClients, 1, 1_000_000, "connections"), def: "10000",
			why:    "as maxclients of Redis; past it a new client is told so and closed",
			choose: "all processes of your applications times their pool size, below the limit of open files"},
		{name: "idle-timeout", setting: duration(&c.IdleTimeout, 0, 365*day), def: "0s",
			why:    "0 is never, as timeout of Redis: pools expect idle connections to stay",
			choose: "longer than the idle time of your pools, where clients vanish without closing"},
		{name: "command-timeout", setting: duration(&c.CommandTimeout, 10*time.Millisecond, 10*time.Minute), def: "10s",
			why:    "a half-sent command holds memory; a live client finishes it within moments",
			choose: "the slowest network a client may sit behind"},
		{name: "write-timeout", setting: duration(&c.WriteTimeout, 10*time.Millisecond, 10*time.Minute), def: "10s",
			why:    "a client that does not read its answers is gone; its buffers are freed and a grant it never saw is undone",
			choose: "the longest pause of a client that is still alive"},
		{name: "max-args", setting: count(&c.MaxArgs, 16, 1<<20, "arguments"), def: "1024",
			why:    "a lock command has ten, one over many keys a few hundred",
			choose: "the most keys locked or deleted in one command"},
		{name: "max-bulk", setting: size(&c.MaxBulk, 64, 512*mib), def: "64KiB",
			why:    "holds the longest key, token or script with room to spare",
			choose: "the largest of max-key, max-token and script-bytes"},
		{name: "max-inline", setting: size(&c.MaxInline, 64, 512*mib), def: "16KiB",
			why:    "commands typed by hand; Redis allows 64KiB, nobody types that",
			choose: "leave it"},
		{name: "max-command", setting: size(&c.MaxCommand, 128, 1024*mib), def: "256KiB",
			why:    "a script with its keys and tokens; times max-clients it bounds the memory of half-sent commands",
			choose: "max-bulk plus all keys and tokens of the longest command"},
		{name: "max-pipeline", setting: count(&c.MaxPipeline, 1, 1<<20, "commands"), def: "1024",
			why:    "commands of one client handed over at a time; the rest waits in its socket and nothing is lost",
			choose: "smaller for fairness among clients, larger for one that pipelines more"},
	}
}

func processOptions(c *Config) []option {
	return []option{
		{name: "drain-timeout", setting: duration(&c.DrainTimeout, 10*time.Millisecond, 10*time.Minute), def: "10s",
			why:    "after SIGTERM rounds in flight end, and nodes that can be reached get the releases they are owed; below the 30s Kubernetes grants",
			choose: "below the patience of whoever stops the process"},
		{name: "log-level", setting: choice(&c.LogLevel,
			word[slog.Level]{"debug", slog.LevelDebug}, word[slog.Level]{"info", slog.LevelInfo},
			word[slog.Level]{"warn", slog.LevelWarn}, word[slog.Level]{"error", slog.LevelError}), def: "info",
			why:    "tells what changes (a node lost, back), not each lock",
			choose: "debug to follow single rounds, warn where logs are dear"},
		{name: "log-format", setting: choice(&c.LogFormat, word[string]{"text", "text"}, word[string]{"json", "json"}), def: "text",
			why:    "read by people first",
			choose: "json where a machine collects the logs"},
		{name: "config", setting: filename(&c.File), example: "/etc/redlockd.toml", from: notInFile,
			why:    "none is looked for: what is in force is what was asked for",
			choose: "a file for passwords: unlike a flag, it is not shown to everyone by ps"},
		{name: "check", setting: boolean(&c.Check), def: "false", from: flagOnly,
			choose: "check the options, and every node if there are any, and leave: exits with 0 if all is well"},
		{name: "version", setting: boolean(&c.Version), def: "false", from: flagOnly,
			choose: "print the version and leave"},
		{name: "help", setting: boolean(&c.Help), def: "false", from: flagOnly,
			choose: "print this and leave; -h for short"},
	}
}
