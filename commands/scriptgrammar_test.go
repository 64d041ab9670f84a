package commands

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// grammar writes scripts that look like those of locks, and mostly are none.
type grammar struct {
	*rand.Rand
	keys, args int
	names      []string // of locals in scope
	depth      int
}

func (g *grammar) of(choices ...string) string { return choices[g.IntN(len(choices))] }

// one is a choice with a weight for each, of which only the one that is taken is written.
func (g *grammar) one(choices ...any) string {
	sum := 0
	for i := 0; i < len(choices); i += 2 {
		sum += choices[i].(int)
	}
	n := g.IntN(sum)
	for i := 0; ; i += 2 {
		if n -= choices[i].(int); n < 0 {
			return choices[i+1].(func() string)()
		}
	}
}

func text(s string) func() string { return func() string { return s } }

// deeper says that there is room for more.
func (g *grammar) deeper(f func() string, otherwise string) string {
	if g.depth > 5 {
		return otherwise
	}
	g.depth++
	defer func() { g.depth-- }()
	return f()
}

func (g *grammar) call(verb string, args ...string) string {
	return g.of("redis.call", "redis.call", "redis.call", "redis.pcall") + "('" + verb + "', " + strings.Join(args, ", ") + ")"
}

func (g *grammar) local() string {
	if len(g.names) == 0 {
		return "KEYS[1]"
	}
	return g.of(g.names...)
}

func (g *grammar) arg() string {
	return fmt.Sprintf("ARGV[%d]", 1+min(g.IntN(g.args+1), g.IntN(g.args)))
}

func (g *grammar) key() string {
	return g.one(8, func() string { return fmt.Sprintf("KEYS[%d]", 1+g.IntN(g.keys)) }, 1, g.arg, 1, g.local, 1, text("'lit'"))
}

func (g *grammar) value() string {
	return g.deeper(func() string {
		return g.one(14, g.arg, 1, g.key, 1, g.local,
			3, func() string {
				return g.of("'tok'", "'x'", "''", "'1'", "'OK'", "0", "5", "'30000'", "'to'", "'nil'", "'NX'")
			},
			1, func() string { return "string.sub(" + g.value() + ", 1, " + g.of("2", "3", "4") + ")" },
			1, func() string { return "tostring(" + g.value() + ")" },
			1, func() string { return "(" + g.value() + " .. " + g.value() + ")" },
			1, func() string { return "(" + g.condition() + " and " + g.value() + " or " + g.value() + ")" })
	}, "ARGV[1]")
}

func (g *grammar) ttl() string {
	second := fmt.Sprintf("ARGV[%d]", min(2, g.args))
	return g.of(second, second, second, "tonumber("+second+")", second+" * 1000", second+" + redis.call('pttl', KEYS[1])",
		"math.max("+second+", 60000)", "math.min("+second+", 60000)", "30000", "'30000'", "60000", "1e5", "0", "-1")
}

func (g *grammar) read() string {
	return g.one(8, func() string { return g.call("get", g.key()) },
		1, func() string { return g.call("mget", g.key(), g.key()) + "[" + g.of("1", "2") + "]" },
		1, func() string { return g.call("getrange", g.key(), "0", g.of("1", "2", "3")) },
		1, func() string { return g.call(g.of("getset"), g.key(), g.value()) },
		1, func() string { return g.call("getdel", g.key()) })
}

func (g *grammar) write() string {
	return g.one(4, func() string { return g.call(g.of("del", "unlink", "DEL"), g.key()) },
		1, func() string { return g.call("del", g.key(), g.key()) },
		3, func() string { return g.call("set", g.key(), g.value(), g.of("'NX'", "'XX'", "'nx'"), "'PX'", g.ttl()) },
		2, func() string { return g.call("set", g.key(), g.value(), g.of("'PX'", "'EX'"), g.ttl()) },
		1, func() string { return g.call("psetex", g.key(), g.ttl(), g.value()) },
		1, func() string { return g.call("setnx", g.key(), g.value()) },
		1, func() string { return g.call(g.of("mset", "msetnx"), g.key(), g.value(), g.key(), g.value()) },
		3, func() string { return g.call(g.of("pexpire", "pexpire", "expire"), g.key(), g.ttl()) },
		1, func() string { return g.call("persist", g.key()) })
}

// number has no remaining times in it: between two looks at one, time goes on.
func (g *grammar) number() string {
	return g.deeper(func() string {
		return g.one(2, func() string { return g.call("exists", g.key()) },
			2, func() string { return "tonumber(" + g.arg() + ")" },
			1, func() string { return g.of("#KEYS", "#ARGV", "#"+g.value()) },
			1, func() string { return g.number() + g.of(" + ", " - ", " * ", " / ", " % ") + g.number() },
			3, func() string { return g.of("0", "1", "-1", "2", "1.5", "30000") })
	}, "1")
}

func (g *grammar) condition() string {
	return g.deeper(func() string {
		same := func() string { return g.of(" == ", " == ", " == ", " ~= ") }
		return g.one(8, func() string { return g.read() + same() + g.value() }, 1, func() string { return "not " + g.read() },
			1, func() string { return g.read() + same() + g.of("false", "nil", "true") },
			1, func() string { return g.number() + g.of(" == ", " < ", " > ", " <= ", " ~= ") + g.number() },
			1, func() string {
				return g.call("pttl", g.key()) + g.of(" < ", " > ") + g.of("0", "-1", "150000", "450000")
			},
			1, func() string { return g.call("exists", g.key()) + " == " + g.of("0", "1") },
			1, func() string { return "(" + g.condition() + g.of(" and ", " or ") + g.condition() + ")" },
			1, func() string { return "not (" + g.condition() + ")" }, 1, func() string { return g.value() + same() + g.value() },
			2, func() string { return g.write() }, 1, g.local,
			1, func() string { return g.call("type", g.key()) + ".ok == " + g.of("'none'", "'string'", "ARGV[1]") },
			1, func() string { return "type(" + g.value() + ") == " + g.of("'string'", "'nil'", "ARGV[1]") },
			1, func() string {
				return "string.sub(" + g.read() + " or '', 1, 3) == string.sub(" + g.value() + ", 1, 3)"
			})
	}, "true")
}

func (g *grammar) reply() string {
	return g.deeper(func() string {
		return g.one(8, func() string { return g.of("0", "1", "-1", "nil", "false", "true", "2") }, 3, g.write, 2, g.read, 1, g.number, 1, g.value,
			1, func() string { return g.call("pttl", g.key()) },
			1, func() string { return "redis.status_reply('OK')" },
			1, func() string {
				return g.of("redis.error_reply('ERROR')", "redis.error_reply('-X y')", "{err='E x'}", "{ok='so'}")
			},
			1, func() string {
				return g.of("redis.error_reply('no ' .. ", "redis.error_reply(('no %s'):format(") + g.value() + "))"
			},
			1, func() string { return "{" + g.reply() + ", " + g.reply() + "}" })
	}, "0")
}

func (g *grammar) block(most int) string {
	return g.deeper(func() string {
		var b strings.Builder
		before := len(g.names)
		for range g.IntN(most + 1) {
			b.WriteString(g.statement() + " ")
		}
		if g.IntN(4) > 0 {
			b.WriteString("return " + g.reply())
		}
		g.names = g.names[:before]
		return b.String()
	}, "return 0")
}

func (g *grammar) statement() string {
	with := func(name, format string) string {
		g.names = append(g.names, name)
		defer func() { g.names = g.names[:len(g.names)-1] }()
		return fmt.Sprintf(format, g.deeper(g.statement, "do end"))
	}
	name := fmt.Sprintf("v%d", len(g.names))
	return g.one(6, func() string { return "if " + g.condition() + " then " + g.block(1) + " end" },
		3, func() string { return "if " + g.condition() + " then " + g.block(1) + " else " + g.block(1) + " end" },
		3, func() string {
			s := "local " + name + " = " + g.one(2, g.read, 1, g.value, 1, g.key, 1, g.number, 1, g.write, 1, g.condition)
			g.names = append(g.names, name)
			return s
		},
		2, func() string { return with(name, "for _, "+name+" in "+g.of("ipairs", "pairs")+"(KEYS) do %s end") },
		1, func() string { return with("KEYS["+name+"]", "for "+name+" = 1, #KEYS do %s end") },
		1, func() string {
			return g.of("error('x y')", "assert("+g.condition()+", 'no')", "redis.log(2, 'x' .. "+g.arg()+")")
		},
		8, func() string { return "local _ = " + g.write() })
}

// lock is a lock script, more or less.
func (g *grammar) lock() string {
	key, token, ttl := g.of("KEYS[1]", "KEYS[1]", "KEYS[1]", g.key()), g.of("ARGV[1]", "ARGV[1]", "ARGV[1]", g.value()), g.of("ARGV[2]", "30000", g.ttl())
	before, also, inside := "", "", ""
	switch g.IntN(8) {
	case 0:
		before = "if " + g.condition() + " then " + g.block(1) + " end "
	case 1:
		also = g.of(" and ", " or ") + g.condition()
	case 2:
		inside = g.statement() + " "
	}
	own := "redis.call('get', " + key + ") == " + token + also
	each := "for _, key in ipairs(KEYS) do "
	act := func(key string) string {
		return g.of("redis.call('del', "+key+")", "redis.call('pexpire', "+key+", "+ttl+")", "redis.call('getdel', "+key+")")
	}
	return before + g.of(
		"if "+own+" then "+inside+"return "+act(key)+" else return "+g.reply()+" end",
		"local v = redis.call('get', "+key+") if v == "+token+" then "+inside+act(key)+" return "+g.reply()+" elseif v then return "+g.reply()+" end "+g.block(1),
		"if redis.call('set', "+key+", "+token+", 'NX', 'PX', "+ttl+") then "+inside+"return "+g.reply()+" end return "+g.reply(),
		"local v = redis.call('get', "+key+") if not v or v == "+token+also+" then "+inside+"redis.call('set', "+key+", "+token+", 'PX', "+ttl+") return "+g.reply()+" end return "+g.reply(),
		each+"if redis.call('get', key) ~= "+token+also+" then return "+g.reply()+" end end "+each+act("key")+" end return "+g.reply(),
		each+"if redis.call('exists', key) == 1 then return "+g.reply()+" end end "+each+"redis.call('set', key, "+token+", 'PX', "+ttl+") end "+inside+"return "+g.reply(),
		"local n = 0 "+each+"if redis.call('get', key) == "+token+also+" then n = n + redis.call('del', key) end end return "+g.of("n", "n", g.reply()))
}

// words of a call, often such as play a part in the script.
func (g *grammar) words() (keys, args [][]byte) {
	for i := range g.keys {
		keys = append(keys, []byte(g.of(fmt.Sprint("k", i), fmt.Sprint("k", i), fmt.Sprint("k", i), fmt.Sprint("k", i), "k0", "tok", "lit", "1", "")))
	}
	for i := range g.args {
		usual := []string{"tok", "30000", "1", "x"}[i]
		args = append(args, []byte(g.of(usual, usual, usual, "tok", "tok2", "tok-note", "to", "30000", "0", "1", "", "OK", "k0", "nil", "string", "010", "1e3", "-1", "60000", "NX", "lit", "a\r\nb")))
	}
	return keys, args
}

// FuzzScriptGrammar compares what is recognised with a real Redis: in the first call, and in further calls with other words, which
// find what the cache has kept.
func FuzzScriptGrammar(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	conn := realRedis(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		g := &grammar{Rand: rnd, keys: 1 + min(rnd.IntN(3), rnd.IntN(3)), args: 1 + rnd.IntN(4)}
		body := []byte(g.one(2, g.lock, 1, func() string { return g.block(3) }))
		scripts := newTestScripts()
		for range 3 {
			keys, args := g.words()
			c, err := eval(scripts, body, keys, args)
			if fresh := show(eval(newTestScripts(), body, keys, args)); err == nil && show(c, err) != fresh {
				t.Fatalf("%q %q: %s, and by itself %s\n%s", keys, args, show(c, err), fresh, body)
			}
			// Short times would end while the test looks at them.
			if err == nil && (c.Expiry.Kind == NoExpiry || c.Expiry.Kind == FromNow && (c.Add || c.Expiry.MS > 5000)) {
				agrees(t, conn, fmt.Sprintf("%q %q", keys, args), body, keys, args, 10, rnd)
			}
		}
	})
}
