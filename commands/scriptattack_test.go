package commands

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// attacks look like releases, and are not where Lua 5.1, C or Redis do otherwise than gopher-lua, Go or our model. Each of them was once taken for
// a release.
var attacks = []struct {
	name, condition string // under which the script deletes whatever the key holds
	args            string
}{
	{"name of a field as a text", "next(redis.status_reply('x')) == ARGV[1]", "ok"},
	{"walks redis", "next(redis)", "tok"},
	{"walks math", "next(math)", "tok"},
	{"walks string", "next(string)", "tok"},
	{"decimal that Go reads as octal", "ARGV[2] + 0 == 10", "tok 010"},
	{"negated", "-ARGV[2] == -10", "tok 010"},
	{"binary", "ARGV[2] + 0 == 3", "tok 0b11"},
	{"infinite", "tonumber(ARGV[2])", "tok 1e400"},
	{"hexadecimal fraction", "tonumber(ARGV[2])", "tok 0x1.8"},
	{"zero byte", "tonumber(ARGV[2])", "tok 1\x00a"},
	{"not a number", "tonumber(ARGV[2])", "tok -nan"},
	{"not a number, and which", "tonumber(ARGV[2])", "tok nan(a)"},
	{"large hexadecimal", "tonumber(ARGV[2])", "tok 0xffffffffffffffffff"},
	{"large hexadecimal in the text", "0xffffffffffffffff == 18446744073709551615", "tok"},
	{"length of a list with holes", "#{1, nil, 3, nil} == 1", "tok"},
	{"the same by another name", "table.getn({1, nil, 3, nil}) == 1", "tok"},
	{"unpacked with holes", "#{unpack({1, nil, 3, nil})} == 1", "tok"},
	{"remainder of infinity", "5 % (1 / 0) ~= 5", "tok"},
	{"least of no number", "math.min(1, 0 / 0) == 1", "tok"},
	{"greatest of no number", "math.max(1, 0 / 0) == 1", "tok"},
	{"what else is in an error", "redis.pcall('pexpire', KEYS[1], 'x').ignore_error_stats_update", "tok"},
	{"infinity written", "redis.call('set', KEYS[1], 1 / 0) and redis.call('get', KEYS[1]) == 'inf'", "tok"},
	{"minus zero written", "redis.call('set', KEYS[1], -0) and redis.call('get', KEYS[1]) == '-0'", "tok"},
	{"the beginning and no more", "redis.call('get', KEYS[1]) == string.sub(ARGV[1], 1, 2)", "token"},
	{"a long remaining time", "redis.call('ttl', KEYS[1]) > 150000", "tok"},
	{"a very long one", "redis.call('pttl', KEYS[1]) / 5000 > 450000", "tok"},
	{"order of a table", "next({[3] = 1, [2] = 1, [1] = 1}) ~= 1", "tok"},
	{"length filled from behind", "#(function() local t = {} t[2] = 1 return t end)() == 0", "tok"},
}

func TestScriptAttacks(t *testing.T) {
	conn := realRedis(t)
	for _, a := range attacks {
		body := []byte("if " + a.condition + " then return redis.call('del', KEYS[1]) end " + releaseText)
		agrees(t, conn, a.name, body, words("k"), words(strings.Fields(a.args)...), 40, rand.New(rand.NewPCG(1, 1)))
	}
}

// Of two keys that both hold a word that is not their token.
func TestScriptAttacksOnPairs(t *testing.T) {
	conn := realRedis(t)
	for _, kept := range []string{"ARGV[1], ARGV[1]", "ARGV[1], ARGV[2]", "KEYS[2], KEYS[1]"} {
		body := fmt.Sprintf("local kept = {%s} if redis.call('get', KEYS[1]) == kept[1] and redis.call('get', KEYS[2]) == kept[2] then return 0 end "+
			"return redis.call('del', unpack(KEYS))", kept)
		if s, err := eval(newTestScripts(), []byte(body), words("k1", "k2"), words("t1", "t2")); err == nil {
			t.Errorf("%s: %s", kept, show(s, err))
		}
		agrees(t, conn, kept, []byte(body), words("k1", "k2"), words("t1", "t2"), 40, rand.New(rand.NewPCG(1, 1)))
	}
}

// A verdict on a token that is shorter than what is compared is not one on a token that is as long.
func TestScriptShapeOfLengths(t *testing.T) {
	body := []byte(`if redis.call("set", KEYS[1], ARGV[1], "nx", "px", 30000) then return 1 end
		if redis.call("getrange", KEYS[1], 0, 4) == string.sub(ARGV[1], 1, 5) then redis.call("set", KEYS[1], ARGV[1], "px", 30000) return 1 end return 0`)
	tokens := []string{"tok", "token", "token-and-note"}
	for _, first := range tokens {
		for _, second := range tokens {
			scripts := newTestScripts()
			eval(scripts, body, words("k"), words(first))
			cached := show(eval(scripts, body, words("k"), words(second)))
			if fresh := show(eval(newTestScripts(), body, words("k"), words(second))); cached != fresh {
				t.Errorf("%s after %s: %s, and alone %s", second, first, cached, fresh)
			}
		}
	}
}

// Scripts that meet a key only when their token has been found: once, the trial was thrown off.
func TestScriptLateKeys(t *testing.T) {
	for _, body := range []string{
		`if redis.call('get', 'lit') == ARGV[1] then return 2 end local v = redis.call('get', KEYS[1]) if v == ARGV[1] then redis.call('del', KEYS[1]) return redis.call('exists', ARGV[1]) end`,
		`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('get', ARGV[2]) end local n = 0 for i, key in ipairs(KEYS) do if redis.call("set", key, ARGV[1], "NX", "PX", ARGV[2]) then n = n + 1 end end return n`,
		`if redis.call('mget', KEYS[1])[1] == ARGV[1] then return true end local n = 0 for i, key in ipairs(KEYS) do if redis.call('get', key) == ARGV[1] and not redis.call('get', ARGV[1]) then n = n + redis.call('unlink', key) end end return n`,
	} {
		for _, keys := range [][][]byte{words("k1"), words("k1", "k2"), words("k1", "k2", "k3")} {
			predictionLaw(t, body, []byte(body), keys, words("tok", "30000"), 1)
		}
	}
	predictionLaw(t, "no words", []byte(`return redis.call('del', 'a', 'b')`), nil, nil, 1)
}
