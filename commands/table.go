package commands

import (
	"maps"
	"slices"
)

// Verb is what a command wants: of the locks, or of the connection.
type Verb uint8

const (
	asParsed Verb = iota // parse says which
	// Of the locks: each is a round.
	Take
	Overwrite
	Release
	Extend
	Get
	TTL
	PTTL
	Delete
	Exists
	Expire
	Inspect
	ExpireTime
	PExpireTime
	DBSize

	// Of us and the connection.
	ScriptAdmin
	Watch
	Unwatch
	Multi
	Exec
	Discard
	Ping
	Echo
	Quit
	Reset
	Select
	Auth
	Hello
	Client
	CommandInfo
	Config
	Info
	Time
	Role
	Redlock
	Subscribe
	Unsubscribe
	Publish
	PubSub
	Admin // what a Redis has and we need not have: answered by its name
)

// OfLocks says that the command is about locks, so that it becomes a round.
func (v Verb) OfLocks() bool { return v >= Take && v <= DBSize }

// Spec is what COMMAND tells about a command.
type Spec struct {
	Name  string
	Arity int // of arguments with the name; negative: at least
	Flags []string
	// Keys: the first, the last (negative: from the end) and the step; zero for none.
	First, Last, Step int
	Group             string
	// Syntax of the arguments: words, [optional], a|choice, word... for many; TOKEN value; <a block of them>.
	Syntax, Summary string

	verb  Verb
	parse func(*Command, *Scripts) error
}

// Specs of all commands, by name.
func Specs() []Spec {
	var all []Spec
	for _, name := range slices.Sorted(maps.Keys(table)) {
		all = append(all, *table[name])
	}
	return all
}

// SpecOf the command of that name in lower case.
func SpecOf(name string) (Spec, bool) {
	if s := table[name]; s != nil {
		return *s, true
	}
	return Spec{}, false
}

var table map[string]*Spec

// specOf the command of that name in any case; nil if there is none.
func specOf(name []byte) *Spec {
	var room [maxName]byte
	if len(name) > len(room) {
		return nil
	}
	lower := room[:len(name)]
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return table[string(lower)]
}

var (
	writes  = []string{"write", "denyoom"}
	erases  = []string{"write"}
	reads   = []string{"readonly", "fast"}
	talks   = []string{"loading", "stale", "fast"}
	listens = []string{"pubsub", "loading", "stale", "fast"}
	runs    = []string{"noscript", "movablekeys"}
	admins  = []string{"admin", "noscript", "loading", "stale"}
)

const expiries = "[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds]"

func init() {
	table = make(map[string]*Spec)
	for _, s := range []Spec{
		{"set", -3, writes, 1, 1, 1, "string", "key value [NX|XX|IFEQ ifeq-value|IFNE ifne-value] [GET] " + expiries, "Take a lock (NX), extend it (IFEQ), or overwrite a key.", asParsed, parseSet},
		{"setnx", 3, writes, 1, 1, 1, "string", "key value", "Take a lock for max-ttl.", Take, parseSetNX},
		{"setex", 4, writes, 1, 1, 1, "string", "key seconds value", "Overwrite a key, with an expiry in seconds.", Overwrite, parseSetEX},
		{"psetex", 4, writes, 1, 1, 1, "string", "key milliseconds value", "Overwrite a key, with an expiry in milliseconds.", Overwrite, parseSetEX},
		{"msetnx", -3, writes, 1, -1, 2, "string", "<key value>...", "Take all locks or none, for max-ttl.", Take, parseMSetNX},
		{"msetex", -4, append([]string{"movablekeys"}, writes...), 0, 0, 0, "string", "numkeys <key value>... NX " + expiries, "Take all locks or none.", Take, parseMSetEX},
		{"get", 2, reads, 1, 1, 1, "string", "key", "The value that a majority holds.", Get, parseKey},
		{"mget", -2, reads, 1, -1, 1, "string", "key...", "The values that a majority holds.", Inspect, parseMGet},
		{"getset", 3, writes, 1, 1, 1, "string", "key value", "Overwrite a key, for max-ttl, and answer what it held.", Overwrite, parseGetSet},
		{"getdel", 2, erases, 1, 1, 1, "string", "key", "Delete a key and answer what it held.", Delete, parseGetDel},
		{"getex", -2, erases, 1, 1, 1, "string", "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST]", "Set a key's expiry and answer what it holds.", asParsed, parseGetEX},
		{"strlen", 2, reads, 1, 1, 1, "string", "key", "The length of the value that a majority holds.", Inspect, parseStrLen},
		{"del", -2, erases, 1, -1, 1, "generic", "key...", "Delete keys, whoever holds them.", Delete, parseDel},
		{"unlink", -2, erases, 1, -1, 1, "generic", "key...", "Delete keys, whoever holds them.", Delete, parseDel},
		{"delex", -2, erases, 1, 1, 1, "string", "key [IFEQ ifeq-value|IFNE ifne-value]", "Release a lock (IFEQ), or delete a key.", asParsed, parseDelEX},
		{"delifeq", 3, erases, 1, 1, 1, "string", "key value", "Release a lock.", Release, parseDelIfEq},
		{"exists", -2, reads, 1, -1, 1, "generic", "key...", "How many of the keys exist on a majority.", Exists, parseKeys},
		{"touch", -2, reads, 1, -1, 1, "generic", "key...", "How many of the keys exist on a majority.", Exists, parseKeys},
		{"type", 2, reads, 1, 1, 1, "generic", "key", "string, or none.", Inspect, parseType},
		{"ttl", 2, reads, 1, 1, 1, "generic", "key", "Seconds that a majority still holds the key.", TTL, parseKey},
		{"pttl", 2, reads, 1, 1, 1, "generic", "key", "Milliseconds that a majority still holds the key.", PTTL, parseKey},
		{"expiretime", 2, reads, 1, 1, 1, "generic", "key", "When a majority stops holding the key, in seconds since 1970.", ExpireTime, parseKey},
		{"pexpiretime", 2, reads, 1, 1, 1, "generic", "key", "When a majority stops holding the key, in milliseconds since 1970.", PExpireTime, parseKey},
		{"expire", -3, erases, 1, 1, 1, "generic", "key seconds [NX|XX|GT|LT]", "Set a key's expiry in seconds, whoever holds it.", Expire, parseExpire},
		{"pexpire", -3, erases, 1, 1, 1, "generic", "key milliseconds [NX|XX|GT|LT]", "Set a key's expiry in milliseconds, whoever holds it.", Expire, parseExpire},
		{"expireat", -3, erases, 1, 1, 1, "generic", "key unix-time-seconds [NX|XX|GT|LT]", "Set when a key expires, whoever holds it.", Expire, parseExpire},
		{"pexpireat", -3, erases, 1, 1, 1, "generic", "key unix-time-milliseconds [NX|XX|GT|LT]", "Set when a key expires, whoever holds it.", Expire, parseExpire},
		{"persist", 2, erases, 1, 1, 1, "generic", "key", "Set a key's expiry to max-ttl: every lock ends.", Expire, parseKey},
		{"dbsize", 1, reads, 0, 0, 0, "server", "", "How many keys a majority of the nodes has.", DBSize, nil},
		{"eval", -3, runs, 0, 0, 0, "scripting", "script numkeys [key...] [arg...]", "Carry out a lock script, known by what it does.", asParsed, parseEval},
		{"evalsha", -3, runs, 0, 0, 0, "scripting", "sha1 numkeys [key...] [arg...]", "Carry out a lock script by its SHA1.", asParsed, parseEval},
		{"eval_ro", -3, runs, 0, 0, 0, "scripting", "script numkeys [key...] [arg...]", "Inspect locks by a script.", asParsed, parseEval},
		{"evalsha_ro", -3, runs, 0, 0, 0, "scripting", "sha1 numkeys [key...] [arg...]", "Inspect locks by a script's SHA1.", asParsed, parseEval},
		{"fcall", -3, runs, 0, 0, 0, "scripting", "function numkeys [key...] [arg...]", "There are no functions.", asParsed, parseFunctionCall},
		{"fcall_ro", -3, runs, 0, 0, 0, "scripting", "function numkeys [key...] [arg...]", "There are no functions.", asParsed, parseFunctionCall},
		{"script", -2, runs, 0, 0, 0, "scripting", "", "LOAD, EXISTS and FLUSH scripts.", ScriptAdmin, nil},
		{"watch", -2, talks, 1, -1, 1, "transactions", "key...", "Compare what the keys hold now when EXEC changes one of them.", Watch, parseKeys},
		{"unwatch", 1, talks, 0, 0, 0, "transactions", "", "Forget what was watched.", Unwatch, nil},
		{"multi", 1, talks, 0, 0, 0, "transactions", "", "Begin a transaction: one change of one key.", Multi, nil},
		{"exec", 1, talks, 0, 0, 0, "transactions", "", "Carry the transaction out, unless what was watched has changed.", Exec, nil},
		{"discard", 1, talks, 0, 0, 0, "transactions", "", "Forget the transaction.", Discard, nil},
		{"ping", -1, talks, 0, 0, 0, "connection", "[message]", "Answer PONG.", Ping, nil},
		{"echo", 2, talks, 0, 0, 0, "connection", "message", "Answer the message.", Echo, nil},
		{"quit", -1, talks, 0, 0, 0, "connection", "", "Close the connection.", Quit, nil},
		{"reset", 1, talks, 0, 0, 0, "connection", "", "Reset the connection.", Reset, nil},
		{"select", 2, talks, 0, 0, 0, "connection", "index", "Choose the database.", Select, nil},
		{"auth", -2, talks, 0, 0, 0, "connection", "[username] password", "Log in.", Auth, nil},
		{"hello", -1, talks, 0, 0, 0, "connection", "[protover [AUTH username password] [SETNAME clientname]]", "Choose the protocol: 2 or 3.", Hello, nil},
		{"client", -2, talks, 0, 0, 0, "connection", "", "About client connections.", Client, nil},
		{"command", -1, talks, 0, 0, 0, "server", "", "About commands.", CommandInfo, nil},
		{"config", -2, admins, 0, 0, 0, "server", "", "Read the configuration.", Config, nil},
		{"info", -1, talks, 0, 0, 0, "server", "[section...]", "About this server and its nodes.", Info, nil},
		{"time", 1, talks, 0, 0, 0, "server", "", "The time of this server.", Time, nil},
		{"role", 1, talks, 0, 0, 0, "server", "", "The role of this server: master.", Role, nil},
		{"redlock", -2, admins, 0, 0, 0, "server", "", "About the nodes behind this server.", Redlock, nil},
		{"subscribe", -2, listens, 0, 0, 0, "pubsub", "channel...", "Get what is published to the channels here.", Subscribe, nil},
		{"psubscribe", -2, listens, 0, 0, 0, "pubsub", "pattern...", "Get what is published here to channels of a pattern.", Subscribe, nil},
		{"ssubscribe", -2, listens, 0, 0, 0, "pubsub", "shardchannel...", "Get what is published to the shard channels here.", Subscribe, nil},
		{"unsubscribe", -1, listens, 0, 0, 0, "pubsub", "[channel...]", "End subscriptions to channels.", Unsubscribe, nil},
		{"punsubscribe", -1, listens, 0, 0, 0, "pubsub", "[pattern...]", "End subscriptions to patterns.", Unsubscribe, nil},
		{"sunsubscribe", -1, listens, 0, 0, 0, "pubsub", "[shardchannel...]", "End subscriptions to shard channels.", Unsubscribe, nil},
		{"publish", 3, listens, 0, 0, 0, "pubsub", "channel message", "Send a message to the subscribers of this redlockd.", Publish, nil},
		{"spublish", 3, listens, 0, 0, 0, "pubsub", "shardchannel message", "Send a message to the subscribers of this redlockd.", Publish, nil},
		{"pubsub", -2, listens, 0, 0, 0, "pubsub", "", "About the subscriptions here.", PubSub, nil},
		{"memory", -2, reads, 0, 0, 0, "server", "", "About memory.", Admin, parseMemory},
		{"object", -2, reads, 2, 2, 1, "generic", "", "About a value.", Admin, parseObject},
		{"acl", -2, admins, 0, 0, 0, "server", "", "About users: there is one.", Admin, nil},
		{"cluster", -2, talks, 0, 0, 0, "cluster", "", "There is no cluster.", Admin, nil},
		{"debug", -2, admins, 0, 0, 0, "server", "", "Refused.", Admin, nil},
		{"function", -2, runs, 0, 0, 0, "scripting", "", "There are no functions.", Admin, nil},
		{"latency", -2, admins, 0, 0, 0, "server", "", "There are no samples.", Admin, nil},
		{"module", -2, admins, 0, 0, 0, "server", "", "There are no modules.", Admin, nil},
		{"slowlog", -2, admins, 0, 0, 0, "server", "", "No slow commands are kept.", Admin, nil},
		{"asking", 1, talks, 0, 0, 0, "cluster", "", "There is no cluster.", Admin, nil},
		{"readonly", 1, talks, 0, 0, 0, "cluster", "", "There is no cluster.", Admin, nil},
		{"readwrite", 1, talks, 0, 0, 0, "cluster", "", "There is no cluster.", Admin, nil},
		{"wait", 3, talks, 0, 0, 0, "generic", "numreplicas timeout", "How many replicas have it: none.", Admin, nil},
		{"waitaof", 4, talks, 0, 0, 0, "generic", "numlocal numreplicas timeout", "How many have it in their files: none.", Admin, nil},
		{"flushall", -1, erases, 0, 0, 0, "server", "[ASYNC|SYNC]", "Refused: it would free every lock.", Admin, nil},
		{"flushdb", -1, erases, 0, 0, 0, "server", "[ASYNC|SYNC]", "Refused: it would free every lock.", Admin, nil},
		{"lolwut", -1, reads, 0, 0, 0, "server", "[VERSION version]", "Who are you?", Admin, nil},
	} {
		table[s.Name] = &s
	}
}
