package quorumtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"
)

// What a client sees of a script. The answers are those of redis-server 7.0.15, but for what script.go says.
func TestScripts(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.node.Put("k", "a\r\nb\x00\xff", 1000*ms)
		for _, c := range []struct{ script, reply string }{
			{"return 3.99", ":3"}, {"return -3.99", ":-3"}, {"return '3.99'", "3.99"}, {"return true", ":1"},
			{"return false", "nil"}, {"return nil", "nil"}, {"return", "nil"}, {"return {1, {2, {'x'}, false}, {}, nil, 5}", "[:1 [:2 [x] nil] []]"},
			{"return redis.call('GET', KEYS[1])", "a\r\nb\x00\xff"}, {"return #redis.call('get', KEYS[1])", ":6"},
			{"return redis.call('GET', 'nope')", "nil"}, {"return type(redis.call('GET', 'nope'))", "boolean"},
			{"return redis.call('MGET', 'nope', KEYS[1])", "[nil a\r\nb\x00\xff]"},
			{"return redis.call('PTTL', KEYS[1]) + 0.9", ":1000"}, {"return type(redis.call('PTTL', 'k'))", "number"},
			{"return redis.call('SET', 'j', 1)", "+OK"}, {"return redis.call('SET', 'j', 1).ok", "OK"},
			{"return redis.call('SET', 'j', 9007199254740991) and redis.call('GET', 'j')", "9007199254740991"},
			{"return redis.call('SET', 'j', 12.5) and redis.call('GET', 'j')", "12.5"},
			{"return redis.call('SET', 'j', 1, 'NX')", "nil"}, {"return redis.call('DEL', unpack({'j', 'nope'}))", ":1"},
			{"return {KEYS[1], KEYS[2], #KEYS, #ARGV, ARGV[1], ARGV[2]}", "[k l :2 :2 x y]"},
			{"return redis.call('TIME')", "[946684800 0]"}, {"return redis.call('PING')", "+PONG"},
			{"return redis.status_reply('FINE')", "+FINE"}, {"return redis.error_reply('MY own')", "-MY own"},
			{"return redis.error_reply('MINE')", "-ERR MINE"}, {"return redis.error_reply('-MY own')", "-MY own"},
			{"return redis.call('SET', 'j', 1, 'PX', 0)", "-ERR invalid expire time in 'set' command"},
			{"redis.call('NOPE') return 1", "-ERR Unknown Redis command called from script"},
			{"redis.pcall('NOPE') return 1", ":1"}, {"return redis.pcall('NOPE').err", "ERR Unknown Redis command called from script"},
			{"return redis.pcall('NOPE')", "-ERR Unknown Redis command called from script"},
			{"local ok = pcall(redis.call, 'NOPE') return {ok, 1}", "[nil :1]"},
			{"return redis.call('EVAL', 'return 1', 0)", "-ERR This Redis command is not allowed from script"},
			{"return redis.call()", "-ERR Please specify at least one argument for this redis lib call"},
			{"return redis.call('SET', 'j', true)", "-ERR Lua redis lib command arguments must be strings or integers"},
			{"return redis.sha1hex('')", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
			{"return #{unpack(KEYS)}", ":2"}, {"local t = {} for i = 1, 7000 do t[i] = i end return #{unpack(t)}", ":7000"},
		} {
			if got := f.do("EVAL", c.script, 2, "k", "l", "x", "y"); got != c.reply {
				t.Errorf("%s: %q, want %q", c.script, got, c.reply)
			}
		}
		for script, part := range map[string]string{
			"x = 1":                      "Attempt to modify a readonly table",
			"return x":                   "attempted to access nonexistent global variable 'x'",
			"return os.time()":           "nonexistent global variable 'os'",
			"return 1 + {}":              "-ERR ",
			"return (":                   "-ERR Error compiling script",
			"error('mine')":              "mine",
			"return unpack({}, 1, 8000)": "too many results to unpack",
			"local t = nil; return t.x":  "-ERR ",
			"local function f() return 1+f() end return f()": "-ERR ",
		} {
			if got := f.do("EVAL", script, 0); got[0] != '-' || !strings.Contains(got, part) {
				t.Errorf("%s: %q, want an error with %q", script, got, part)
			}
		}
		f.want("EVAL 1", "-ERR wrong number of arguments for 'eval' command")
		f.want("EVAL 1 x", "-ERR value is not an integer or out of range")
		f.want("EVAL 1 1", "-ERR Number of keys can't be greater than number of args")
		f.want("EVAL 1 -1", "-ERR Number of keys can't be negative")
		if got := f.do("EVAL", "return #KEYS + #ARGV", 0); got != ":0" {
			t.Error("keys of the script before were left behind:", got)
		}
	})
}

func TestScriptsAreKnownByHash(t *testing.T) {
	inBubble(t, func(f fixture) {
		ForgetScripts() // all nodes, and all tests, know the same
		text := "return 'known by its hash'"
		f.want("EVALSHA "+hash(text)+" 0", "-NOSCRIPT No matching script. Please use EVAL.")
		if got := f.do("SCRIPT", "LOAD", text); got != hash(text) {
			t.Error(got)
		}
		f.want("SCRIPT EXISTS "+hash(text)+" nope", "[:1 :0]")
		f.want("EVALSHA "+strings.ToUpper(hash(text))+" 0", "known by its hash")
		f.want("SCRIPT FLUSH", "+OK")
		f.want("EVALSHA "+hash(text)+" 0", "-NOSCRIPT No matching script. Please use EVAL.")
		f.do("EVAL", text, 0)
		f.want("EVALSHA "+hash(text)+" 0", "known by its hash")
		if got := f.do("SCRIPT", "LOAD", "return ("); !strings.HasPrefix(got, "-ERR Error compiling script") {
			t.Error(got)
		}
	})
}

// scanScript reads a batch of keys with all that is to be known of them, those that are too long left out.
const scanScript = `local reply = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
local found = {}
for _, key in ipairs(reply[2]) do
  local left = redis.call('PTTL', key)
  if left ~= -2 and string.sub(key, 1, #ARGV[3]) ~= ARGV[3] and redis.call('STRLEN', key) <= tonumber(ARGV[4]) then
    table.insert(found, {key, redis.call('GET', key), left})
  end
end
return {reply[1], found}`

func TestScanInAScript(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.node = NewNode()
		f.conn = f.dial()
		for i := range 300 {
			f.node.Put(fmt.Sprintf("k:%d\xff", i), fmt.Sprintf("token\r\n%d", i), time.Duration(i+1)*time.Second)
		}
		f.node.Put("forever", "t", 0)
		f.node.Put("long", strings.Repeat("x", 100), 0)
		found := map[string]string{}
		cursor := "0"
		for batches := 1; ; batches++ {
			reply, err := redis.Values(f.conn.Do("EVAL", scanScript, 0, cursor, 20, "redlockd:", 99))
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range reply[1].([]any) {
				found[string(k.([]any)[0].([]byte))] = line(k)
			}
			if cursor = line(reply[0]); cursor == "0" {
				if batches != 16 {
					t.Errorf("%d batches of 303 keys", batches)
				}
				break
			}
		}
		if len(found) != 301 || found["k:7\xff"] != "[k:7\xff token\r\n7 :8000]" || found["forever"] != "[forever t :-1]" {
			t.Errorf("%d found: %q, %q", len(found), found["k:7\xff"], found["forever"])
		}
		if seen := f.node.Seen("SCAN", "GET", "PTTL", "STRLEN"); len(seen) != 0 {
			t.Error("what a script does was seen", seen[0])
		}
	})
}

// mergeScript writes each key with its token and time, but shortens nothing; what others hold is blocked.
const mergeScript = `local told, blocked = {}, 0
for i, key in ipairs(KEYS) do
  local token, life = ARGV[2*i], tonumber(ARGV[2*i+1])
  local held = redis.call('GET', key)
  if held then
    if held ~= token then token, blocked = ARGV[1], blocked + 1 end
    life = math.max(life, redis.call('PTTL', key))
  end
  redis.call('SET', key, token, 'PX', life + 2)
  table.insert(told, key)
end
return {blocked, redis.call('EXISTS', unpack(told)), {redis.call('MGET', unpack(told))}}`

func TestMergeInAScript(t *testing.T) {
	inBubble(t, func(f fixture) {
		f.node.Put("same", "t", 5*time.Second)
		f.node.Put("longer", "t", 50*time.Second)
		f.node.Put("other", "u", 20*time.Second)
		got := f.do("EVAL", mergeScript, 4, "new", "same", "longer", "other", "blocker", "t", 10000, "t", 10000, "t", 10000, "t", 10000)
		if got != "[:1 :4 [[t t t blocker]]]" {
			t.Error(got)
		}
		for key, left := range map[string]int{"new": 10002, "same": 10002, "longer": 50002, "other": 20002} {
			f.want("PTTL "+key, fmt.Sprintf(":%d", left))
		}
	})
}

// Nodes that run the same scripts at once share nothing but their compiled form.
func TestScriptsOfManyNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 8 {
			f := fixture{T: t, node: NewNode()}
			for c := range 3 {
				conn := f.dial()
				all.Go(func() {
					for k := range 100 {
						key, token := fmt.Sprintf("k:%d:%d", c, k), fmt.Sprintf("t:%d", i)
						if _, err := conn.Do("EVAL", mergeScript, 1, key, "blocker", token, 1000); err != nil {
							t.Error(err)
						}
						if v, _ := f.node.Value(key); v != token {
							t.Errorf("node %d: %s holds %s", i, key, v)
						}
					}
				})
			}
		}
		all.Wait()
	})
}

func BenchmarkEval(b *testing.B) {
	n := NewNode()
	args := []string{"EVAL", mergeScript, "1", "k", "blocker", "t", "1000"}
	for b.Loop() {
		n.mu.Lock()
		n.carryOut(args, &end{})
		n.mu.Unlock()
	}
}
