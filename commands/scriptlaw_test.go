package commands

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/parse"
)

// luaTokens cuts a script into its tokens, so that a mutation knows what it touches.
func luaTokens(body []byte) (tokens []string) {
	scanner := parse.NewScanner(strings.NewReader(string(body)), "")
	for lexer := new(parse.Lexer); ; {
		token, err := scanner.Scan(lexer)
		if err != nil || token.Type == parse.EOF {
			return tokens
		}
		switch token.Type {
		case parse.TString:
			token.Str = luaQuote(token.Str)
		case '.':
			token.Str = "." // the scanner leaves it out
		case parse.TNumber:
			if strings.HasPrefix(token.Str, "0") && len(token.Str) > 1 {
				token.Str = "0" + token.Str // and drops the first zero
			}
		}
		tokens = append(tokens, token.Str)
	}
}

func luaQuote(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "\\%03d", text[i])
	}
	return `"` + b.String() + `"`
}

// relaid writes the tokens with other white space, comments, quotes and the other case of commands.
func relaid(tokens []string, rnd *rand.Rand) string {
	var b strings.Builder
	for i, token := range tokens {
		// A call's parenthesis stays on its line: Lua 5.1 calls the other case ambiguous.
		gaps := []string{" ", "  ", "\t", " --[[ if x then ]] ", " --[==[ ]] ]==] "}
		if token != "(" {
			gaps = append(gaps, "\n", "\r\n", "\n\n", " -- return redis.call('del', KEYS[1])\n", " --\n", " --[x\n")
		}
		if i > 0 || rnd.IntN(2) == 0 {
			b.WriteString(gaps[rnd.IntN(len(gaps))])
		}
		b.WriteString(token)
	}
	return b.String()
}

func inKeysAndVerbs(tokens []string, rnd *rand.Rand) []string {
	out := append([]string(nil), tokens...)
	for i, token := range out {
		for _, verb := range []string{"get", "del", "unlink", "exists", "pttl", "expire", "pexpire"} {
			if strings.EqualFold(token, luaQuote(verb)) || token == luaQuote(strings.ToUpper(verb)) {
				spelled := []byte(verb)
				for j := range spelled {
					if rnd.IntN(2) == 0 {
						spelled[j] -= 'a' - 'A'
					}
				}
				quotes := []string{`"%s"`, `'%s'`, `[[%s]]`, `[=[%s]=]`}
				out[i] = fmt.Sprintf(quotes[rnd.IntN(len(quotes))], spelled)
			}
		}
	}
	return out
}

// layoutLaw: what a script is does not depend on how it is written down.
func layoutLaw(t *testing.T, c corpusScript, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	want := show(eval(newTestScripts(), c.body, c.keys, c.args))
	text := relaid(inKeysAndVerbs(luaTokens(c.body), rnd), rnd)
	got := show(eval(newTestScripts(), []byte(text), c.keys, c.args))
	if withoutLine(got) != withoutLine(want) {
		t.Errorf("%s: %s\nbut %s as\n%s", c.name, want, got, text)
	}
}

func withoutLine(text string) string {
	before, after, found := strings.Cut(text, "user_script:")
	if !found {
		return text
	}
	_, after, _ = strings.Cut(after, ":")
	return before + after
}

// breakings are the changes of behaviour, each with the texts of our canonical spellings that it changes.
var breakings = []struct{ name, from, to string }{
	{"== becomes ~=", "==", "~="},
	{"~= becomes ==", "~=", "=="},
	{"deletes nothing", `redis . call ( "\100\101\108" , KEYS [ 1 ] )`, "1"},
	{"extends nothing", `redis . call ( "\112\101\120\112\105\114\101" , KEYS [ 1 ] , ARGV [ 2 ] )`, "1"},
	{"other key", "KEYS [ 1 ]", "KEYS [ 2 ]"},
	{"other token", "ARGV [ 1 ]", "ARGV [ 3 ]"},
	{"token and expiry swapped", "ARGV [ 1 ]", "ARGV [ 2 ]"},
	{"expiry and token swapped", "ARGV [ 2 ]", "ARGV [ 1 ]"},
	{"no comparison", "if redis", "if true or redis"},
	{"get becomes exists", `"\103\101\116"`, `"exists"`},
	{"del becomes get", `"\100\101\108"`, `"get"`},
	{"pexpire becomes expire", `"\112\101\120\112\105\114\101"`, `"expire"`},
	{"pexpire becomes del", `"\112\101\120\112\105\114\101"`, `"del"`},
	{"del becomes set", `"\100\101\108"`, `"set"`},
}

// A change of behaviour is never taken for what it was before.
func TestScriptBreakings(t *testing.T) {
	broken := 0
	for _, c := range corpus(t) {
		if strings.HasPrefix(c.name, "refuse") {
			continue
		}
		want := show(eval(newTestScripts(), c.body, c.keys, c.args))
		text := strings.Join(luaTokens(c.body), " ")
		for _, b := range breakings {
			for at, n := 0, 0; ; n++ {
				i := strings.Index(text[at:], b.from)
				if i < 0 {
					break
				}
				at += i + len(b.from)
				mutant := text[:at-len(b.from)] + b.to + text[at:]
				got := show(eval(newTestScripts(), []byte(mutant), c.keys, c.args))
				if got == want && !harmless[fmt.Sprintf("%s: %s (%d)", c.name, b.name, n)] {
					t.Errorf("%s: %s (%d) is still %s\n%s", c.name, b.name, n, got, mutant)
				}
				broken++
			}
		}
	}
	if broken < 150 {
		t.Errorf("only %d mutants: the patterns do not fit the corpus any more", broken)
	}
}

// harmless are the breakings that change nothing in the call of calls.txt.
var harmless = map[string]bool{
	// The flag of the call leads past the broken line.
	"extend-add-by-flag: expiry and token swapped (0)": true,
	"extend-set-by-flag: expiry and token swapped (1)": true,
	// Only the guard against an empty token is broken, and this token is not empty.
	"release-empty-token-guard: other token (0)":              true,
	"release-empty-token-guard: token and expiry swapped (0)": true,
}

func TestScriptLayouts(t *testing.T) {
	for _, c := range corpus(t) {
		for seed := range uint64(5) {
			layoutLaw(t, c, seed)
		}
	}
}

func FuzzScriptLayout(f *testing.F) {
	all := corpus(f)
	for i := range all {
		f.Add(uint16(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64) {
		layoutLaw(t, all[int(which)%len(all)], seed)
	})
}

// FuzzScript feeds any text: no panic, one verdict however often it is asked, and the law of the values: a verdict holds for
// every token, so for two random ones it is the same.
func FuzzScript(f *testing.F) {
	for _, c := range corpus(f) {
		f.Add(c.body, []byte("tok"), []byte("30000"))
	}
	f.Fuzz(func(t *testing.T, body, token, ttl []byte) {
		scripts := newTestScripts()
		call := func(scripts *Scripts, token []byte) (Command, error) {
			return eval(scripts, body, words("key one"), [][]byte{token, ttl})
		}
		first, err := call(scripts, token)
		if again, _ := call(scripts, token); show(first, err) != show(again, err) {
			t.Fatalf("first %s, then %s", show(first, err), show(again, err))
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("an error of two lines: %q", err)
			}
			return
		}
		if verbNames[first.Verb] == "" {
			t.Fatalf("recognised as %s", show(first, err))
		}
		// Asked first with another token, it has to come to the same.
		fresh := newTestScripts()
		call(fresh, []byte("another token"))
		if s, err := call(fresh, token); show(s, err) != show(first, nil) {
			t.Fatalf("alone %s, after another token %s", show(first, nil), show(s, err))
		}
	})
}
