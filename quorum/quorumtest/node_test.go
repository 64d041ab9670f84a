package quorumtest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

const ms = time.Millisecond

// fixture is a connection to a node, in a bubble of virtual time.
type fixture struct {
	*testing.T
	node *Node
	conn redis.Conn
}

func inBubble(t *testing.T, test func(fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := fixture{T: t, node: NewBlankNode()}
		f.conn = f.dial()
		test(f)
	})
}

func (f fixture) dial() redis.Conn {
	f.Helper()
	c, err := f.node.Dial(context.Background(), "", "")
	if err != nil {
		f.Fatal(err)
	}
	conn := redis.NewConn(c, 0, 0)
	f.Cleanup(func() { conn.Close() })
	return conn
}

// do a command and write its reply as a line: texts quoted only if they must be, nil as nil, lists in brackets.
func (f fixture) do(args ...any) string {
	v, err := f.conn.Do(args[0].(string), args[1:]...)
	if err != nil {
		return "-" + err.Error()
	}
	return line(v)
}

func line(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case int64:
		return ":" + strconv.FormatInt(v, 10)
	case []byte:
		return string(v)
	case string:
		return "+" + v
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, line(e))
		}
		return "[" + strings.Join(all, " ") + "]"
	default:
		return fmt.Sprintf("?%T", v)
	}
}

// want does a command, its words separated by blanks.
func (f fixture) want(command, reply string) {
	f.Helper()
	var args []any
	for _, w := range strings.Split(command, " ") {
		args = append(args, w)
	}
	if got := f.do(args...); got != reply {
		f.Errorf("%s: %s, want %s", command, got, reply)
	}
}

func (f fixture) info(name string) (string, bool) {
	f.Helper()
	text, err := redis.String(f.conn.Do("INFO", "server"))
	if err != nil {
		f.Fatal(err)
	}
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(l, name+":"); ok {
			return strings.TrimRight(v, "\r\n"), true
		}
	}
	return "", false
}

func (f fixture) wantInfo(name, want string) {
	f.Helper()
	if got, _ := f.info(name); got != want {
		f.Errorf("INFO says %s:%s, want %s", name, got, want)
	}
}

func TestCommands(t *testing.T) {
	inBubble(t, func(f fixture) {
		for _, c := range [][2]string{
			{"PING", "+PONG"}, {"PING hello", "hello"}, {"ECHO hello", "hello"},
			{"SELECT 0", "+OK"}, {"SELECT 1", "-ERR DB index is out of range"},
			{"GET k", "nil"}, {"STRLEN k", ":0"}, {"PTTL k", ":-2"},
			{"SET k v", "+OK"}, {"set k value px 1000", "+OK"}, {"STRLEN k", ":5"}, {"PTTL k", ":1000"},
			{"SET k w NX PX 5", "nil"}, {"SET j w XX PX 5", "nil"}, {"SET k w XX KEEPTTL", "+OK"}, {"PTTL k", ":1000"},
			{"SET k v", "+OK"}, {"PTTL k", ":-1"}, {"SET new v KEEPTTL", "+OK"}, {"PTTL new", ":-1"},
			{"MGET k nope new", "[v nil v]"}, {"EXISTS k k nope new", ":3"}, {"DBSIZE", ":2"},
			{"PEXPIRE nope 5", ":0"}, {"PEXPIRE k 5", ":1"}, {"PTTL k", ":5"}, {"PEXPIRE k 0", ":1"}, {"EXISTS k", ":0"},
			{"SET a 1", "+OK"}, {"SET b 1", "+OK"}, {"DEL a a nope b", ":2"}, {"UNLINK new", ":1"}, {"DBSIZE", ":0"},
			{"SET a 1", "+OK"}, {"FLUSHDB", "+OK"}, {"DBSIZE", ":0"},
			{"SET a 1", "+OK"}, {"FLUSHALL ASYNC", "+OK"}, {"DBSIZE", ":0"},
			{"SET k", "-ERR wrong number of arguments for 'set' command"},
			{"SET k v NX XX", "-ERR syntax error"}, {"SET k v PX", "-ERR syntax error"}, {"SET k v PX 5 KEEPTTL", "-ERR syntax error"},
			{"SET k v PX 0", "-ERR invalid expire time in 'set' command"},
			{"SET k v PX 9223372036855", "-ERR invalid expire time in 'set' command"}, {"SET k v PX 9223372036854", "+OK"},
			{"SET k v PX 1.5", "-ERR value is not an integer or out of range"},
			{"PEXPIRE k 9223372036855", "-ERR invalid expire time in 'pexpire' command"}, {"PEXPIRE k 9223372036854", ":1"},
			{"NOPE", "-ERR unknown command 'NOPE'"},
		} {
			f.want(c[0], c[1])
		}
	})
}

func TestKeysEnd(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("SET k v PX 100", "+OK")
		f.want("SET z v", "+OK")
		f.node.Put("a", "v", 50*ms)
		f.node.Put(quorum.TeacherKey, "v", 0)
		if got := f.node.Keys(); !reflect.DeepEqual(got, []string{"a", "k", "z"}) {
			t.Error(got)
		}
		time.Sleep(99 * ms)
		f.want("PTTL k", ":1")
		f.want("DBSIZE", ":3")
		time.Sleep(1 * ms)
		f.want("GET k", "nil")
		f.want("DBSIZE", ":2")
		if got := f.node.Keys(); !reflect.DeepEqual(got, []string{"z"}) {
			t.Error(got)
		}
	})
}

func TestStep(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("TIME", "[946684800 0]") // when every bubble begins
		f.want("SET k v PX 1000", "+OK")
		f.node.Step(400*ms + 3*time.Microsecond)
		f.want("TIME", "[946684800 400003]")
		f.want("PTTL k", ":599")
		f.node.Step(-time.Hour)
		f.want("PTTL k", ":3600599")
		if left := f.node.Left("k"); left != 3600599*ms {
			t.Error(left)
		}
		f.node.Step(time.Hour)
		time.Sleep(600 * ms)
		f.want("GET k", "nil")
		if off := f.node.Clock().Sub(time.Now()); off != 400*ms+3*time.Microsecond {
			t.Error(off)
		}
	})
}

func TestRate(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.node.Put("k", "v", 10*time.Second)
		f.node.Rate(1.02)
		time.Sleep(5 * time.Second)
		f.want("PTTL k", ":4900")
		f.node.Rate(0)
		time.Sleep(time.Hour)
		f.want("PTTL k", ":4900")
		f.node.Step(100 * ms)
		f.want("PTTL k", ":4800")
		f.node.Rate(1)
		time.Sleep(4800*ms - 1)
		f.want("GET k", "v")
		time.Sleep(1)
		f.want("GET k", "nil")
		if off := f.node.Clock().Sub(time.Now()); off != 200*ms-time.Hour {
			t.Error(off)
		}
	})
}

func TestInfo(t *testing.T) {
	inBubble(t, func(f fixture) {
		for name, value := range map[string]string{
			"redis_version": "7.4.0", "redis_mode": "standalone", "role": "master", "maxmemory": "0",
			"maxmemory_policy": "noeviction", "loading": "0", "aof_enabled": "0", "connected_slaves": "0",
			"master_replid2": strings.Repeat("0", 40), "second_repl_offset": "-1", "cluster_enabled": "0",
			"run_id": f.node.RunID(), "db0": "",
		} {
			f.wantInfo(name, value)
		}
		f.want("SET k v", "+OK")
		f.want("SET l v PX 5", "+OK")
		f.wantInfo("db0", "keys=2,expires=1,avg_ttl=0")
		f.node.Say("role", "slave")
		f.node.Say("evicted_keys", "7")
		f.node.Say("loading", "")
		f.wantInfo("role", "slave")
		f.wantInfo("evicted_keys", "7")
		if _, said := f.info("loading"); said {
			t.Error("loading is said")
		}
		f.node.Say("role", "master")
		f.wantInfo("role", "master")
	})
}

func TestRunIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		n := NewBlankNode()
		for range 3 {
			id := n.RunID()
			if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" || seen[id] {
				t.Fatal(id)
			}
			seen[id] = true
			n.Kill()
			n.Start()
		}
	}
}

func TestConfig(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("CONFIG GET appendonly", "[appendonly no]")
		f.want("CONFIG GET append* maxmemory-policy nope", "[appendfsync everysec appendonly no maxmemory-policy noeviction]")
		f.node.Configure("appendonly", "yes")
		f.node.Configure("maxmemory-policy", "allkeys-lru")
		f.want("config get APPENDONLY", "[appendonly yes]")
		f.wantInfo("aof_enabled", "1")
		f.wantInfo("maxmemory_policy", "allkeys-lru")
		f.want("CONFIG SET appendonly no", "-ERR unknown subcommand 'SET'")
	})
}

func TestClient(t *testing.T) {
	inBubble(t, func(f fixture) {
		other := f.dial()
		f.want("CLIENT SETNAME me", "+OK")
		f.want("CLIENT ID", ":1")
		if id, err := redis.Int(other.Do("CLIENT", "ID")); id != 2 || err != nil {
			t.Error(id, err)
		}
		f.want("CLIENT KILL ID 2", ":1")
		f.want("CLIENT KILL ID 2", ":0")
		if _, err := other.Do("PING"); err == nil {
			t.Error("it was killed, and answers")
		}
		f.want("CLIENT LIST", "-ERR unknown subcommand or wrong number of arguments for 'LIST'")
	})
}

// What only reads goes on while a node refuses.
func TestRefuse(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("SET k v PX 1000", "+OK")
		f.node.Refuse("MISCONF no disk")
		for _, c := range []string{
			"SET k w", "DEL k", "UNLINK k", "PEXPIRE k 1", "FLUSHALL", "FLUSHDB", "EVAL return 0", "EVALSHA x 0",
		} {
			f.want(c, "-MISCONF no disk")
		}
		for _, c := range [][2]string{
			{"GET k", "v"}, {"PTTL k", ":1000"}, {"TIME", "[946684800 0]"}, {"EXISTS k", ":1"}, {"DBSIZE", ":1"},
			{"SCAN 0", "[0 [k]]"}, {"CLIENT ID", ":1"}, {"SCRIPT EXISTS x", "[:0]"}, {"PING", "+PONG"}, {"MGET k", "[v]"},
			{"STRLEN k", ":1"}, {"CONFIG GET appendonly", "[appendonly no]"},
		} {
			f.want(c[0], c[1])
		}
		f.wantInfo("role", "master")
		f.node.Refuse("")
		f.want("DEL k", ":1")
	})
}

func TestMark(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("DBSIZE", ":0")
		f.want("GET "+quorum.MarkKey, "nil")
		f.node = NewNode()
		f.conn = f.dial()
		f.want("DBSIZE", ":1")
		f.want("PTTL "+quorum.MarkKey, ":-1")
		value, _ := f.node.Value(quorum.MarkKey)
		if m := quorum.ParseMark(value); m.RunID != f.node.RunID() || !strings.HasPrefix(m.Nonce, "new") || m.Offset != 0 {
			t.Errorf("%+v", m)
		}
		if other, _ := NewNode().Value(quorum.MarkKey); quorum.ParseMark(other).Nonce == quorum.ParseMark(value).Nonce {
			t.Error("the nonce of two nodes is the same")
		}
		if keys := f.node.Keys(); len(keys) != 0 {
			t.Error(keys)
		}
	})
}

// Every way in which a node loses its mark, or comes back with an old one.
func TestForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fixture{T: t, node: NewNode()}
		f.conn = f.dial()
		born := f.node.RunID()
		f.want("SET short v PX 1000", "+OK")
		f.want("SET long v PX 60000", "+OK")
		f.node.Save()
		f.want("SET late v", "+OK")
		f.node.Kill()
		if _, err := f.node.Dial(context.Background(), "", ""); err == nil {
			t.Error("it is dead, and is connected to")
		}
		time.Sleep(time.Second)
		f.node.StartFrom()
		f.conn = f.dial()
		f.want("MGET short long late", "[nil v nil]")
		f.want("PTTL long", ":59000")
		f.want("DBSIZE", ":2")
		f.want("CLIENT ID", ":1")
		value, _ := f.node.Value(quorum.MarkKey)
		if m := quorum.ParseMark(value); m.RunID != born || f.node.RunID() == born {
			t.Errorf("%+v", m)
		}
		f.want("DEL long", ":1")
		f.node.Flush()
		f.want("DBSIZE", ":0")
		f.node.Kill()
		f.node.StartFrom() // the snapshot is what it was
		f.conn = f.dial()
		f.want("GET long", "v")
		f.node.Kill()
		f.node.Start()
		f.conn = f.dial()
		f.want("DBSIZE", ":0")
	})
}

func TestStartFromNothing(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("SET k v", "+OK")
		f.node.Kill()
		f.node.StartFrom()
		f.conn = f.dial()
		f.want("DBSIZE", ":0")
		f.want("SET k v", "+OK")
	})
}

// A clock that was put forward while the node was dead ends what it loads.
func TestSnapshotEndsByTheNodesClock(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.want("SET k v PX 60000", "+OK")
		f.node.Save()
		f.node.Kill()
		f.node.Step(time.Minute)
		f.node.StartFrom()
		if keys := f.node.Keys(); len(keys) != 0 {
			t.Error(keys)
		}
	})
}
