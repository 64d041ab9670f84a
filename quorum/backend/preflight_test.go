package backend

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gomodule/redigo/redis"
)

// What a fresh master says, cut down to the lines around those that count.
var infos = map[string]string{
	"redis 5": `# Server
redis_version:5.0.14
redis_mode:standalone
run_id:4c1f4a3f6a1d1c9b0f7a0f0a52fd3c8e9a1b2c3d
# Memory
used_memory:854232
used_memory_human:834.21K
maxmemory:0
maxmemory_human:0B
maxmemory_policy:noeviction
# Persistence
loading:0
rdb_last_bgsave_status:ok
aof_enabled:0
aof_last_bgrewrite_status:ok
aof_last_write_status:ok
# Replication
role:master
connected_slaves:0
# Cluster
cluster_enabled:0
# Keyspace
`,
	"redis 7": `# Server
redis_version:7.0.15
redis_mode:standalone
run_id:56ce278e409baafe6a6db4106ee79950cb2d7eec
# Memory
used_memory:1075848
total_system_memory:25276514304
maxmemory:0
maxmemory_policy:noeviction
# Persistence
loading:0
async_loading:0
rdb_last_bgsave_status:ok
aof_enabled:1
aof_last_write_status:ok
# Replication
role:master
connected_slaves:0
master_failover_state:no-failover
# Cluster
cluster_enabled:0
# Keyspace
db0:keys=12,expires=12,avg_ttl=30000
`,
	"redis 8": `# Server
redis_version:8.0.3
redis_mode:standalone
run_id:b2f6a51e5d6b3c04c6f7cfcc4f8d9f7f7a1e2d30
# Memory
used_memory:1501552
maxmemory:0
maxmemory_policy:noeviction
# Persistence
loading:0
async_loading:0
rdb_last_bgsave_status:ok
aof_enabled:0
aof_last_write_status:ok
# Replication
role:master
connected_slaves:0
# Modules
module:name=ReJSON,ver=80001,api=1,filters=0,usedby=[],using=[],options=[handle-io-errors]
# Cluster
cluster_enabled:0
# Keyspace
db0:keys=12,expires=12,avg_ttl=30000,subexpiry=0
# Keysizes
db0_distrib_strings_sizes:16=12
`,
	"valkey": `# Server
redis_version:7.2.4
server_name:valkey
valkey_version:8.1.1
valkey_release_stage:ga
server_mode:standalone
run_id:0d5b8b3b7d7a4b63a3a1b0a1f4f0a0b1c2d3e4f5
# Memory
used_memory:961816
maxmemory:0
maxmemory_policy:noeviction
# Persistence
loading:0
async_loading:0
rdb_last_bgsave_status:ok
aof_enabled:0
aof_last_write_status:ok
# Replication
role:master
connected_slaves:0
replicas_waiting_psync:0
# Cluster
cluster_enabled:0
# Keyspace
db0:keys=12,expires=12,avg_ttl=30000
`,
}

// codes of findings, the warnings with a question mark.
func codes(found []Finding) string {
	var all []string
	for _, f := range found {
		code := f.Code
		if !f.Fatal {
			code += "?"
		}
		all = append(all, code)
	}
	return strings.Join(all, " ")
}

// wellWritten is the law of every finding's words.
func wellWritten(t *testing.T, found []Finding) {
	t.Helper()
	for _, f := range found {
		for _, s := range []string{f.Code, f.What, f.Hint} {
			if s == "" || strings.ContainsAny(s, "\r\n\x1b") || strings.HasSuffix(s, ".") || !utf8.ValidString(s) {
				t.Errorf("%+v", f)
			}
		}
		if f.Error() != f.What+": "+f.Hint {
			t.Error(f.Error())
		}
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new string // what is replaced in each of the texts
		db, own  int
		want     string
		words    string // in the first finding
	}{
		{name: "fine"},
		{name: "replica", old: "role:master", new: "role:slave\nmaster_host:10.0.0.9\nmaster_port:6380", want: "replica", words: "10.0.0.9:6380"},
		{name: "replica of IPv6", old: "role:master", new: "role:slave\nmaster_host:fd00::1\nmaster_port:6380", want: "replica", words: "[fd00::1]:6380"},
		{name: "another role", old: "role:master", new: "role:active-replica", want: "replica", words: "active-replica"},
		{name: "no role", old: "role:master\n", want: "replica", words: "does not say"},
		{name: "cluster", old: "cluster_enabled:0", new: "cluster_enabled:1", want: "cluster"},
		{name: "cluster by mode", old: "_mode:standalone", new: "_mode:cluster", want: "cluster"},
		{name: "sentinel", old: "_mode:standalone", new: "_mode:sentinel", want: "sentinel"},
		{name: "no run_id", old: "run_id", new: "ran_id", want: "no-run-id"},
		{name: "imitation", old: "redis_version", new: "version", want: "not-redis"},
		{name: "redlockd", old: "# Server\n", new: "# Server\nredlockd_version:1\n", want: "not-redis", words: "redlockd"},
		{name: "too old", old: "redis_version:", new: "redis_version:4.0.14\n", want: "version", words: "4.0.14"},
		{name: "no version", old: "redis_version:", new: "redis_version:unstable\n", want: "version"},
		{name: "evicts", old: "noeviction", new: "allkeys-lru", want: "evicts", words: "allkeys-lru"},
		{name: "evicts what expires", old: "noeviction", new: "volatile-ttl", want: "evicts", words: "volatile-ttl"},
		{name: "full", old: "maxmemory:0", new: "maxmemory:900000", want: "memory?"},
		{name: "not full", old: "maxmemory:0", new: "maxmemory:100000000"},
		{name: "replicas", old: "connected_slaves:0", new: "connected_slaves:2", want: "replicas?", words: "2 replicas"},
		{name: "loading", old: "\nloading:0", new: "\nloading:1", want: "loading?"},
		{name: "aof fails", old: "aof_last_write_status:ok", new: "aof_last_write_status:err", want: "persistence?", words: "aof_last"},
		{name: "rdb fails", old: "rdb_last_bgsave_status:ok", new: "rdb_last_bgsave_status:err", want: "persistence?", words: "rdb_last"},
		{name: "all ours", old: "# Keyspace\n", new: "# Keyspace\ndb3:keys=5,expires=4,avg_ttl=1\n", db: 3, own: 1},
		{name: "one key", old: "# Keyspace\n", new: "# Keyspace\ndb3:keys=5,expires=4,avg_ttl=1\n", db: 3, want: "foreign?", words: "1 key without"},
		{name: "keys", old: "# Keyspace\n", new: "# Keyspace\ndb3:keys=7,expires=4,avg_ttl=1\n", db: 3, own: 1, want: "foreign?", words: "2 keys without"},
		{name: "databases", old: "# Keyspace\n", new: "# Keyspace\ndb12:keys=7,expires=7,avg_ttl=1\ndb3:keys=1,expires=0\n", want: "foreign?", words: "(12, 3)"},
		{name: "fatal first", old: "connected_slaves:0", new: "connected_slaves:1\nmaxmemory_policy:x", want: "replicas?", words: "1 replica"},
	} {
		for of, info := range infos {
			t.Run(c.name+" "+of, func(t *testing.T) {
				text := info
				if c.old != "" {
					if text = strings.ReplaceAll(info, c.old, c.new); text == info {
						t.Fatal("nothing was replaced")
					}
				}
				if c.db != 0 && of != "redis 5" { // whose database 0 is not ours then
					text = strings.ReplaceAll(text, "db0:keys", "x:keys")
				}
				for _, end := range []string{"\n", "\r\n"} {
					found := inspect(strings.ReplaceAll(text, "\n", end), c.db, c.own)
					wellWritten(t, found)
					if got := codes(found); got != c.want {
						t.Fatalf("%s, want %s: %v", got, c.want, found)
					}
					if len(found) > 0 && !strings.Contains(found[0].What, c.words) {
						t.Errorf("%q is not in %q", c.words, found[0].What)
					}
				}
			})
		}
	}
}

// Everything wrong at once is told at once, what is fatal before the rest.
func TestInspectTellsAll(t *testing.T) {
	info := "redis_version:3.2\nrole:slave\nconnected_slaves:1\ncluster_enabled:1\nmaxmemory_policy:allkeys-lfu\nused_memory:95\nmaxmemory:100\n" +
		"loading:1\naof_last_write_status:err\ndb0:keys=2,expires=1\ndb1:keys=1,expires=0\n"
	want := "version no-run-id cluster replica evicts replicas? memory? loading? persistence? foreign? foreign?"
	if got := codes(inspect(info, 0, 0)); got != want {
		t.Fatal(got)
	}
}

func TestInspectNonsense(t *testing.T) {
	for _, info := range []string{"", "\x00\xff", "redis_version", "OK"} {
		if got := codes(inspect(info, 0, 1)); got != "not-redis" {
			t.Errorf("%q: %s", info, got)
		}
	}
	wellWritten(t, inspect("redis_version:4\x1b[2J\xff"+strings.Repeat("€", 1000)+"\nrole:\x1b\nmaxmemory_policy:\x07\xff\n", 0, 1))
}

// The words that Redis and Valkey of many versions refuse with, in scripts and outside.
func TestRights(t *testing.T) {
	for _, c := range []struct{ err, want, words string }{
		{"NOPERM this user has no permissions to run the 'get' command or its subcommand", "rights", "run get"},                  // 6
		{"NOPERM this user has no permissions to run the 'client|kill' command", "rights", "run get"},                            // 7.0
		{"NOPERM User key has no permissions to run the 'get' command", "rights", "run get"},                                     // 7.2
		{"ERR The user executing the script can't run this command or subcommand", "rights", "run get"},                          // 6, 7.0
		{"ERR ACL failure in script: User redlockd has no permissions to run the 'get' command", "rights", "run get"},            // 7.2
		{"NOPERM this user has no permissions to access one of the keys used as arguments", "rights", "redlockd:*"},              // 6, 7.0
		{"NOPERM No permissions to access a key", "rights", "redlockd:*"},                                                        // 7.2
		{"ERR The user executing the script can't access at least one of the keys mentioned in the co…", "rights", "redlockd:*"}, // 6, 7.0
		{"ERR ACL failure in script: No permissions to access a key", "rights", "redlockd:*"},                                    // 7.2
		{"ERR unknown command `GET`, with args beginning with: ", "commands", "get"},
		{"ERR Unknown Redis command called from Lua script", "commands", "get"}, // 5, 6
		{"ERR Unknown Redis command called from script", "commands", "get"},     // 7
		{"ERR unknown subcommand 'KILL'. Try CLIENT HELP.", "commands", "get"},
		{"NOAUTH Authentication required.", "password", ""},
		{"LOADING Redis is loading the dataset in memory", "", ""},
		{"READONLY You can't write against a read only replica.", "", ""},
		{"MASTERDOWN Link with MASTER is down", "", ""},
		{"NOSCRIPT No matching script. Please use EVAL.", "", ""},
		{"OOM command not allowed when used memory > 'maxmemory'.", "refuses?", "OOM"},
		{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", "refuses?", "MISCONF"},
		{"NOREPLICAS Not enough good replicas to write.", "refuses?", "NOREPLICAS"},
		{"BUSY Redis is busy running a script.", "refuses?", "BUSY"},
	} {
		found := rights([]said{{"get", c.err}, {"get", c.err}})
		wellWritten(t, found)
		if got := codes(found); got != c.want || len(found) > 0 && !strings.Contains(found[0].What, c.words) {
			t.Errorf("%s: %s, want %s: %v", c.err, got, c.want, found)
		}
	}
	found := rights([]said{{"get", "NOPERM no permissions to run"}, {"client|id", "NOPERM no permissions to run"}, {"set", "OOM"}, {"set", "MISCONF"}})
	if codes(found) != "rights refuses?" || !strings.HasPrefix(found[0].Hint, "give it +get +client|id ") || !strings.Contains(found[1].What, "OOM") {
		t.Error(found)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ err, want, words string }{
		{"NOAUTH Authentication required.", "password", "wants a password"},
		{"WRONGPASS invalid username-password pair or user is disabled.", "password", "accept"},
		{"ERR invalid password", "password", "accept"},                           // 5
		{"ERR Client sent AUTH, but no password is set", "password", "has none"}, // 5
		{"ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?", "password", "has none"},
		{"ERR wrong number of arguments for 'auth' command", "password", "users"}, // 5
		{"ERR SELECT is not allowed in cluster mode", "cluster", "cluster"},
		{"ERR DB index is out of range", "database", "database"},
		{"DENIED Redis is running in protected mode because …", "protected", "protected"},
		{"NOPERM this user has no permissions to run the 'info' command", "rights", "info"},
		{"ERR max number of clients reached", "refuses", "max number of clients"},
		{"BUSY Redis is busy running a script.", "refuses", "BUSY"},
	} {
		found := []Finding{refused(said{"info", c.err})}
		wellWritten(t, found)
		if got := codes(found); got != c.want || !strings.Contains(found[0].What, c.words) {
			t.Errorf("%s: %v, want %s", c.err, found, c.want)
		}
	}
}

func TestUnreached(t *testing.T) {
	for _, c := range []struct {
		err         error
		want, words string
	}{
		{errSilent, "unreachable", "not answering"},
		{errors.New("redigo: unexpected response line (possible server error or …)"), "not-redis", "Redis protocol"},
		{fmt.Errorf("%w: makeslice: len out of range", errGarbage), "not-redis", "Redis protocol"},
	} {
		found := []Finding{unreached(c.err)}
		wellWritten(t, found)
		if got := codes(found); got != c.want || !strings.Contains(found[0].What, c.words) {
			t.Errorf("%v: %v", c.err, found)
		}
	}
}

// A server that does not know AUTH repeats its arguments, the long ones cut off.
func TestDiscreet(t *testing.T) {
	for text, want := range map[string]string{
		"ERR unknown command `AUTH`, with args beginning with: `s3cr": "ERR unknown command `AUTH`",
		"ERR what is AUTH s3cret?":                                    "ERR what is AUTH ***?",
		"ERR invalid password":                                        "ERR invalid password",
	} {
		if got := discreet(redis.Error(text), "s3cret").Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := discreet(redis.Error("ERR invalid password"), "password").Error(); got != "ERR invalid password" {
		t.Error(got)
	}
	if discreet(nil, "x") != nil || discreet(errSilent, "x") != errSilent {
		t.Error("it is not the node's word")
	}
}
