package commands

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Texts that try to cost more than their length. They may compile or not; they must end with an error. What is quadratic in the length would take minutes: the bound is generous, and catches that.
func TestScriptHostileTexts(t *testing.T) {
	const n = MaxScriptBytes
	fill := func(open, middle, close string) string {
		k := (n - len(middle) - 40) / (len(open) + len(close))
		return strings.Repeat(open, k) + middle + strings.Repeat(close, k)
	}
	labels := func() string {
		var b strings.Builder
		for i := 0; b.Len() < n-40; i++ {
			fmt.Fprintf(&b, "::l%d:: goto l%d ", i, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"parentheses": "return " + fill("(", "1", ")"), "open": fill("(", "", ""), "braces": "return " + fill("{", "", "}"),
		"plus": "local x return x" + fill("+1", "", ""), "power": "local x return x" + fill("^x", "", ""),
		"minus": "return " + fill("- ", "x", ""), "not": "return " + fill("not ", "x", ""), "joins": "return a" + fill("..a", "", ""),
		"functions": "return " + fill("function() return ", "1", " end "), "blocks": fill("do ", "", " end"),
		"elseif": "if a then" + fill(" elseif a then", "", "") + " end", "ifs": fill("if a then ", "", " end"),
		"dots": "return a" + fill(".a", "", ""), "calls": "return f" + fill("()", "", ""), "and": "return a" + fill(" and a", "", ""),
		"less": "return a" + fill("<(a", "", ")"), "locals": fill("local a ", "", ""), "arguments": "f(" + fill("a,", "a", "") + ")",
		"whiles": fill("while a do ", "", " end"), "labels": labels(), "brackets": "return [" + fill("=", "", ""),
		"comment": "--[" + fill("=", "", ""), "zeros": fill("\x00", "", ""), "constants": "return {" + fill("'%d',", "", "") + "}",
	} {
		started := time.Now()
		_, err := eval(NewScripts(1, n), []byte(text), words("k"), words("t"))
		if err == nil {
			t.Errorf("%s: recognised", name)
		}
		if took := time.Since(started); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// One run of a script cannot take much memory, whatever it does with its steps.
func TestScriptMemory(t *testing.T) {
	for _, text := range []string{
		"local t = {} while true do t = {t, t, t, t, t, t, t, t} end",
		"local function f(...) return f(1, ...) end return f()",
		"local function f(...) return ... end local t while true do t = {f(KEYS[1], ARGV[1], KEYS[1], ARGV[1])} end",
		"while true do local x = function() return x end end",
		"while true do local x = redis.status_reply('x') end",
		"local t = {} while true do t[200] = t t = {} end",
		"local all = {} while true do all = {all, {}} all[2][255] = 1 end",
		"local t = {} while true do table.insert(t, {}) end",
		"local t = {1} while true do table.insert(t, 1, t) end",
		"local t = {} for i = 1, 250 do t[i] = KEYS[1] end while true do redis.call('mget', unpack(t)) end",
		"local t = {} for i = 1, 250 do t[i] = i end while true do local x = select('#', unpack(t)) end",
		"local t = {KEYS[1], {}} while true do for k, v in pairs(t) do t[2] = {v} end end",
		"while true do local x = string.sub(ARGV[1], 1, 1) end",
		"local t = {} t[1] = t return t",
		"local function f(t) return {f(t), t} end return f({})",
		"for i, v in ipairs(KEYS) do local t = {} while true do t = {t, redis.pcall('get', {})} end end",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := eval(newTestScripts(), []byte(text), words("k"), words("t")); err == nil {
			t.Errorf("recognised: %s", text)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%d MB: %s", took>>20, text)
		}
	}
}

// What one instruction can make the machine do is bounded: the limits on texts, at them and one past them, and the price of long lists.
func TestScriptPrices(t *testing.T) {
	at, past := strings.Repeat("x", maxText), strings.Repeat("x", maxText+1)
	const compare = "local long = #ARGV[2] + #ARGV[3] local less = ARGV[2] < ARGV[3] "
	for _, c := range []struct {
		text string
		args [][]byte
		ok   bool
	}{
		{"local x = '" + at + "' ", words("tok"), true}, {"local x = '" + past + "' ", words("tok"), false},
		{compare, words("tok", at, "a"), true}, {compare, words("tok", past, "a"), false},
		{"local n = tonumber(ARGV[2]) ", words("tok", strings.Repeat("1", maxNumber)), true},
		{"local n = tonumber(ARGV[2]) ", words("tok", strings.Repeat("1", maxNumber+1)), false},
		{"local t = {} for i = 1, 200 do t[i] = KEYS[1] end for i = 1, 2 do redis.call('mget', unpack(t)) end ", words("tok"), true},
		{"local t = {} for i = 1, 200 do t[i] = KEYS[1] end for i = 1, 9 do redis.call('mget', unpack(t)) end ", words("tok"), false},
		{"local t = {} for i = 1, 20 do table.insert(t, i) end for k in pairs(t) do end ", words("tok"), true},
		{"local t = {} for i = 1, 99 do table.insert(t, i) end for k in pairs(t) do end ", words("tok"), false},
	} {
		if s, err := eval(newTestScripts(), []byte(c.text+releaseText), words("k"), c.args); c.ok != (err == nil) {
			t.Errorf("%.80s: %s", c.text, show(s, err))
		}
	}
}

// Those who send new scripts take turns; who calls what is known waits for none of them.
func TestScriptTurns(t *testing.T) {
	scripts := newTestScripts()
	call := func(text, token string) {
		if s, err := eval(scripts, []byte(text), words("k"), words(token)); err != nil || string(s.Token) != token {
			t.Errorf("%s: %s", text, show(s, err))
		}
	}
	call(releaseText, "tok")
	for range cap(scripts.turns) {
		scripts.turns <- struct{}{}
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { call(fmt.Sprintf("local n = %d ", i)+releaseText, "tok") })
	}
	call(releaseText, "another")
	for range cap(scripts.turns) {
		<-scripts.turns
	}
	wg.Wait()
}

// The limit on keys and arguments, at it and one past it.
func TestScriptManyArguments(t *testing.T) {
	args := words(strings.Fields(strings.Repeat("x ", maxWords-2))...)
	args = append([][]byte{[]byte("tok")}, args...)
	if s, err := eval(newTestScripts(), []byte(releaseText), words("k"), args); err != nil || s.Verb != Release {
		t.Errorf("%d words: %v", len(args)+1, err)
	}
	if _, err := eval(newTestScripts(), []byte(releaseText), words("k"), append(args, nil)); err == nil {
		t.Errorf("%d words pass", len(args)+2)
	}
}

// All connections share the cache.
func TestScriptsConcurrently(t *testing.T) {
	scripts := NewScripts(2, 16<<10)
	all := corpus(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 30 {
				c := all[(i+g)%len(all)]
				eval(scripts, c.body, c.keys, c.args)
				token := fmt.Sprintf("tok-%d-%d", g, i)
				s, err := eval(scripts, []byte(releaseText), words("k"), words(token))
				if err != nil || string(s.Token) != token {
					t.Errorf("%v %v", s, err)
				}
				if i%20 == 0 {
					scripts.Flush()
				}
			}
		})
	}
	wg.Wait()
}

// A hot call runs no Lua and allocates nothing.
func TestScriptCachedCallAllocatesNothing(t *testing.T) {
	scripts := newTestScripts()
	body := []byte(extendText)
	sha, _ := scripts.Load(body)
	for _, args := range [][][]byte{
		words("eval", extendText, "1", "lock:1", "0123456789abcdef0123", "30000"),
		words("evalsha", sha, "1", "lock:1", "0123456789abcdef0123", "30000"),
	} {
		c := Command{Name: string(args[0]), Args: args}
		parseEval(&c, scripts)
		if n := testing.AllocsPerRun(100, func() { parseEval(&c, scripts) }); n > 0 || c.Verb != Extend {
			t.Errorf("%s: %v allocations", c.Name, n)
		}
	}
}

func BenchmarkScriptEvalCached(b *testing.B) {
	scripts := newTestScripts()
	body, keys, args := []byte(releaseText), words("lock:1"), words("0123456789abcdef0123")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval(scripts, body, keys, args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScriptEvalSHACached(b *testing.B) {
	scripts := newTestScripts()
	sha, _ := scripts.Load([]byte(extendText))
	keys, args := words("lock:1"), words("0123456789abcdef0123", "30000")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := callScript("evalsha", scripts, []byte(sha), keys, args); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScriptRecognise is what the first call of a script costs.
func BenchmarkScriptRecognise(b *testing.B) {
	for name, text := range map[string]string{"release": releaseText, "extend": extendText, "add": addText} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				eval(newTestScripts(), []byte(text), words("k"), words("tok", "30000"))
			}
		})
	}
}
