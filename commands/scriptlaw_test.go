package commands

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/parse"
)

// luaTokens cuts a script into its tokens, so that a mutation knows what it touches.
func luaTokens(body []byte) (tokens []string) {
	body, _, _, _ = cutShebang(body)
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
	rest, _, _, _ := cutShebang(c.body)
	text := string(c.body[:len(c.body)-len(rest)]) + "\n" + relaid(inKeysAndVerbs(luaTokens(c.body), rnd), rnd)
	got := show(eval(newTestScripts(), []byte(text), c.keys, c.args))
	if withoutLine(got) != withoutLine(want) {
		t.Errorf("%s: %s\nbut %s as\n%s", c.name, want, got, text)
	}
}

// withoutLine takes out of a verdict what its layout has put there: lines, and the SHA1 of the text.
func withoutLine(text string) string { return layout.ReplaceAllString(text, "") }

var layout = regexp.MustCompile(`user_script:\d+|script: [0-9a-f]{40}`)

// breakings are the changes of behaviour: what tokens become. Every place where they fit is broken in turn.
var breakings = []struct{ name, from, to string }{
	{"== becomes ~=", "==", "~="},
	{"~= becomes ==", "~=", "=="},
	{"and becomes or", "and", "or"},
	{"or becomes and", "or", "and"},
	{"not is dropped", "not", ""},
	{"no comparison", "if redis", "if true or redis"},
	{"other key", "KEYS [ 1 ]", "KEYS [ 2 ]"},
	{"other token", "ARGV [ 1 ]", "ARGV [ 3 ]"},
	{"token and expiry swapped", "ARGV [ 1 ]", "ARGV [ 2 ]"},
	{"expiry and token swapped", "ARGV [ 2 ]", "ARGV [ 1 ]"},
	{"argument becomes key", "ARGV [ 1 ]", "KEYS [ 1 ]"},
	{"argument becomes constant", "ARGV [ 1 ]", `"x"`},
	{"every key becomes the first", "key ,", "KEYS [ 1 ] ,"},
	{"number one more", " 1 ", " 2 "},
	{"0 becomes 1", " 0 ", " 1 "},
	{"true becomes false", "true", "false"},
	{"false becomes true", "false", "true"},
	{"NX is dropped", ` , "NX"`, ""},
	{"NX becomes XX", `"NX"`, `"XX"`},
	{"PX becomes EX", `"PX"`, `"EX"`},
	{"PX becomes PXAT", `"PX"`, `"PXAT"`},
	{"get becomes exists", `"get"`, `"exists"`},
	{"get becomes getdel", `"get"`, `"getdel"`},
	{"exists becomes del", `"exists"`, `"del"`},
	{"del becomes get", `"del"`, `"get"`},
	{"del becomes set", `"del"`, `"set"`},
	{"del becomes persist", `"del"`, `"persist"`},
	{"pexpire becomes expire", `"pexpire"`, `"expire"`},
	{"pexpire becomes del", `"pexpire"`, `"del"`},
	{"pexpire becomes get", `"pexpire"`, `"get"`},
	{"setnx becomes set", `"setnx"`, `"set"`},
	{"msetnx becomes mset", `"msetnx"`, `"mset"`},
	{"set becomes get", `"set"`, `"get"`},
	{"call is dropped", "redis . call", "type"},
	{"1 to n becomes 2 to n", "= 1 , #", "= 2 , #"},
}

// plainTokens are luaTokens with short texts as they are, verbs in lower case and options in upper case, so that breakings find them.
func plainTokens(body []byte) []string {
	tokens := luaTokens(body)
	for i, token := range tokens {
		if !strings.HasPrefix(token, `"`) {
			continue
		}
		text := string(unquoted(token))
		if _, verb := verbs[strings.ToUpper(text)]; verb {
			tokens[i] = `"` + strings.ToLower(text) + `"`
		}
		switch upper := strings.ToUpper(text); upper {
		case "NX", "XX", "PX", "EX", "PXAT", "EXAT":
			tokens[i] = `"` + upper + `"`
		}
	}
	return tokens
}

// broken are all single breakings of a script.
func broken(body []byte, use func(name, text string)) {
	text := " " + strings.Join(plainTokens(body), " ") + " "
	for _, b := range breakings {
		for at, n := 0, 0; ; n++ {
			i := strings.Index(text[at:], b.from)
			if i < 0 {
				break
			}
			from := at + i
			at = from + 1
			if whole := from + len(b.from); isLetter(b.from[0]) && isLetter(text[from-1]) || isLetter(b.from[len(b.from)-1]) && isLetter(text[whole]) {
				continue
			}
			use(fmt.Sprintf("%s (%d)", b.name, n), text[:from]+b.to+text[from+len(b.from):])
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// A change of behaviour is never taken for what it was before: a script that keeps its verdict does in all sampled states what it did. And
// whatever it is taken for, it does that.
func TestScriptBreakings(t *testing.T) {
	all, kept, recognised := 0, 0, 0
	for _, c := range corpus(t) {
		if strings.HasPrefix(c.name, "refuse") {
			continue
		}
		want := show(eval(newTestScripts(), c.body, c.keys, c.args))
		broken(c.body, func(name, text string) {
			if all++; all%10 != 0 { // all of them take half a minute, and the fuzzer goes on
				return
			}
			name = c.name + ": " + name
			if predictionLaw(t, name, []byte(text), c.keys, c.args, 3) > 0 {
				recognised++
			}
			if got := show(eval(newTestScripts(), []byte(text), c.keys, c.args)); withoutLine(got) == withoutLine(want) && !strings.HasPrefix(want, "inspect") {
				kept++
				if !alike(c, []byte(text)) {
					t.Errorf("%s is still %s\n%s", name, want, text)
				}
			}
		})
	}
	t.Logf("%d breakings, %d recognised as something, %d as what they were", all, recognised, kept)
	if all < 2500 || recognised < 100 {
		t.Errorf("%d breakings, %d of them recognised: the patterns do not fit the corpus any more", all, recognised)
	}
}

// alike runs both scripts over sampled states.
func alike(c corpusScript, other []byte) bool {
	scripts := newTestScripts()
	command, _ := eval(scripts, c.body, c.keys, c.args)
	one, _ := scripts.load(c.body, func() {})
	two, _ := scripts.load(other, func() {})
	for _, state := range samples(&command, other, c.keys, c.args, 60, rand.New(rand.NewPCG(4, 4))) {
		if spare(&command, state) {
			continue
		}
		did, said, _ := observe(one, &command, c.keys, c.args, state)
		does, says, why := observe(two, &command, c.keys, c.args, state)
		// A reply that the script calculates itself is its own.
		if same := withoutLine(showReply(said)) == withoutLine(showReply(says)) || command.Other.Kind == ReplyComputed; why != "" || !maps.Equal(did, does) || !same {
			return false
		}
	}
	return true
}

func TestScriptLayouts(t *testing.T) {
	for _, c := range corpus(t) {
		for seed := range uint64(2) {
			layoutLaw(t, c, seed)
		}
	}
}

func FuzzScriptLayout(f *testing.F) {
	all := corpus(f)
	for i := 0; i < len(all); i += 20 { // TestScriptLayouts has them all
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

// FuzzScriptBreaking breaks a script of the corpus in several places: whatever comes of it is refused, or does what its Command says.
func FuzzScriptBreaking(f *testing.F) {
	all := corpus(f)
	for i := 0; i < len(all); i += 20 { // TestScriptLayouts has them all
		f.Add(uint16(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64) {
		c, rnd := all[int(which)%len(all)], rand.New(rand.NewPCG(seed, 5))
		text := string(c.body)
		for range 1 + rnd.IntN(3) {
			var mutants []string
			broken([]byte(text), func(_, mutant string) { mutants = append(mutants, mutant) })
			if len(mutants) > 0 {
				text = mutants[rnd.IntN(len(mutants))]
			}
		}
		predictionLaw(t, c.name, []byte(text), c.keys, c.args, seed)
	})
}
