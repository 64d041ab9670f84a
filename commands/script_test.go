package commands

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var updateScripts = flag.Bool("update-scripts", false, "rewrite testdata/scripts/golden.txt")

// corpusScript is one script of testdata/scripts with the call that calls.txt gives for it.
type corpusScript struct {
	name       string
	body       []byte
	keys, args [][]byte
}

func corpus(t testing.TB) (all []corpusScript) {
	calls, err := os.ReadFile("testdata/scripts/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, call, _ := strings.Cut(strings.TrimSpace(line), ":")
		body, err := os.ReadFile(filepath.Join("testdata/scripts", name+".lua"))
		if err != nil {
			t.Fatal(err)
		}
		keys, args, _ := strings.Cut(call, "|")
		all = append(all, corpusScript{name, body, words(strings.Fields(keys)...), words(strings.Fields(args)...)})
	}
	return all
}

func words(texts ...string) [][]byte {
	out := make([][]byte, len(texts))
	for i, text := range texts {
		out[i] = []byte(text)
	}
	return out
}

func newTestScripts() *Scripts { return NewScripts(100, 16<<10) }

// eval is EVAL, or EVALSHA if the script is given by its SHA1.
func eval(scripts *Scripts, body []byte, keys, args [][]byte) (Command, error) {
	return callScript("eval", scripts, body, keys, args)
}

func callScript(name string, scripts *Scripts, body []byte, keys, args [][]byte) (Command, error) {
	call := [][]byte{[]byte(name), body, []byte(strconv.Itoa(len(keys)))}
	var c Command
	err := c.Parse(append(append(call, keys...), args...), scripts)
	return c, err
}

func showReply(r Reply) string {
	switch r.Kind {
	case ReplyInt:
		return fmt.Sprintf(":%d", r.Int)
	case ReplyStatus:
		return "+" + string(r.Text)
	case ReplyBulk:
		return fmt.Sprintf("$%q", r.Text)
	case ReplyError:
		return "-" + string(r.Text)
	case ReplyArray:
		items := make([]string, len(r.Items))
		for i := range items {
			items[i] = showReply(r.Items[i])
		}
		return "[" + strings.Join(items, " ") + "]"
	case ReplyCount:
		return "count"
	case ReplyComputed:
		return "computed"
	default:
		return "nil"
	}
}

var opNames = map[Verb]string{Take: "take", Overwrite: "overwrite", Release: "release", Extend: "extend", Delete: "delete", Inspect: "inspect"}

// show is the class and the answers of a script: what the law says must not change with its layout.
func show(c Command, err error) string {
	if err != nil {
		_, why, found := strings.Cut(err.Error(), "inspection of locks: ")
		if !found {
			why = err.Error()
		}
		return "refused: " + why
	}
	if c.Next != nil {
		for _, token := range c.Args[3:] {
			if next, err := c.Next([]Seen{{Exists: true, Value: token, Left: time.Hour}}); next != nil || err != nil {
				return "extend after a look: " + show(*next, err)
			}
		}
	}
	text := opNames[c.Verb]
	if c.Key != nil {
		text += fmt.Sprintf(" key=%s token=%s", c.Key, c.Token)
	} else {
		text += fmt.Sprintf(" keys=%s tokens=%s", c.Keys, c.Tokens)
	}
	if c.DB >= 0 {
		text += fmt.Sprintf(" db=%d", c.DB)
	}
	if c.If == IfEqual {
		text += fmt.Sprintf(" was=%s", c.Was)
	}
	if c.Each {
		text += " each"
	}
	if c.Own != OwnRefused {
		text += [...]string{OwnEach: " own=each", OwnAll: " own=all"}[c.Own]
	}
	if c.Prefix > 0 {
		text += fmt.Sprintf(" prefix=%d", c.Prefix)
	}
	if c.Verb == Take || c.Verb == Extend || c.Verb == Overwrite {
		text += showExpiry(c)
	}
	if c.Verb == Inspect {
		return text
	}
	for _, m := range c.Publish {
		text += fmt.Sprintf(" publish=%s:%q", m.Channel, m.Text)
	}
	return fmt.Sprintf("%s owned=%s missing=%s other=%s", text, showReply(c.Owned), showReply(c.Missing), showReply(c.Other))
}

func showExpiry(c Command) string {
	switch more := map[bool]string{true: " more"}[c.Add]; c.Expiry.Kind {
	case NoExpiry:
		return " ttl=none"
	case SinceEpoch:
		return fmt.Sprintf(" until=%d", c.Expiry.MS)
	default:
		return fmt.Sprintf(" ttl=%v%s", time.Duration(c.Expiry.MS)*time.Millisecond, more)
	}
}

func TestScriptCorpus(t *testing.T) {
	var golden strings.Builder
	for _, c := range corpus(t) {
		scripts := newTestScripts()
		first := show(eval(scripts, c.body, c.keys, c.args))
		if again := show(eval(scripts, c.body, c.keys, c.args)); again != first {
			t.Errorf("%s: first %s, then %s", c.name, first, again)
		}
		want, _, _ := strings.Cut(c.name, "-")
		if got := strings.TrimRight(strings.Fields(first)[0], "d:"); got != strings.TrimRight(want, "d:") && got != "refuse" || (got == "refuse") != (want == "refuse") {
			t.Errorf("%s: %s", c.name, first)
		}
		fmt.Fprintf(&golden, "%s\n    %s\n", c.name, first)
	}
	const file = "testdata/scripts/golden.txt"
	if *updateScripts {
		if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if golden.String() != string(want) {
		t.Errorf("differs from %s (rewrite with -update-scripts and read the diff):\n%s", file, golden.String())
	}
}

const (
	releaseText = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	extendText  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
	// Calculates with its expiry, so that it cannot pass it on unseen.
	addText = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]+redis.call("pttl",KEYS[1])) else return 0 end`
)

// Whatever the values are, and whichever call came first, key and token are those of this call.
func TestScriptAttribution(t *testing.T) {
	values := []string{"a", "b", "", "0", "1", "30000", "30", "\x00\xff\r\n", "get", "del", "pexpire", "KEYS", "nil", "false", "string",
		errWrongType, strings.Repeat("x", 5000), "1e3", "-1"}
	scripts := newTestScripts()
	for _, key := range append(values[:4:4], "30000", "get") {
		for _, token := range values {
			s, err := eval(scripts, []byte(releaseText), words(key), words(token))
			if err != nil || s.Verb != Release || string(s.Key) != key || string(s.Token) != token {
				t.Fatalf("release key %q token %q: %v %v", key, token, s, err)
			}
			s, err = eval(scripts, []byte(releaseText), words(key), words(token, "unused", token))
			if err != nil || string(s.Key) != key || string(s.Token) != token {
				t.Fatalf("unused arguments, key %q token %q: %v %v", key, token, s, err)
			}
			for _, ttl := range []string{"1", "30", "30000", "9999999999999"} {
				for _, text := range []string{extendText, addText} {
					s, err = eval(scripts, []byte(text), words(key), words(token, ttl))
					want, _ := strconv.ParseInt(ttl, 10, 64)
					if err != nil || s.Verb != Extend || string(s.Key) != key || string(s.Token) != token || s.Expiry != (Expiry{FromNow, want}) || s.Add != (text == addText) {
						t.Fatalf("extend key %q token %q ttl %s: %v %v", key, token, ttl, s, err)
					}
				}
			}
		}
	}
}

func TestScriptExpiryMustBePlain(t *testing.T) {
	scripts := newTestScripts()
	for _, text := range []string{extendText, addText} {
		for _, ttl := range []string{"0", "-1", "", "abc", "1.5", "1e3", " 5", "5 ", "+5", "05", "0x10", "10000000000000", "nil", "get"} {
			for range 2 {
				if s, err := eval(scripts, []byte(text), words("k"), words("tok", ttl)); err == nil {
					t.Errorf("expiry %q: %v", ttl, s)
				}
			}
		}
		if s, err := eval(scripts, []byte(text), words("k"), words("tok", "5000")); err != nil || s.Expiry.MS != 5000 {
			t.Errorf("after the bad ones: %v %v", s, err)
		}
	}
}

// A flag that the script compares with a text of its own selects the operation, in every order of calls.
func TestScriptFlag(t *testing.T) {
	body, err := os.ReadFile("testdata/scripts/extend-add-by-flag.lua")
	if err != nil {
		t.Fatal(err)
	}
	scripts := newTestScripts()
	for _, flag := range []string{"0", "1", "0", "", "00", "1", "0"} {
		s, err := eval(scripts, body, words("k"), words("tok", "30000", flag))
		if err != nil || s.Add != (flag == "0") || s.Expiry.MS != 30000 {
			t.Errorf("flag %q: %v %v", flag, s, err)
		}
	}
}

// No value of a call is kept unless the script itself spells it out.
func TestScriptKeepsNoValues(t *testing.T) {
	scripts := newTestScripts()
	for i := range 50 {
		token, ttl := fmt.Sprintf("token-%d", i), fmt.Sprint(1000+i)
		for _, text := range []string{releaseText, extendText, addText, "return #ARGV[1] + #KEYS[1]"} {
			eval(scripts, []byte(text), words("key"), words(token, ttl))
			eval(scripts, []byte(text), words("key"), words(ttl, ttl))
		}
	}
	for e := scripts.recent.Front(); e != nil; e = e.Next() {
		known := e.Value.(*knownScript)
		if len(known.shapes) > 2 {
			t.Errorf("%d shapes", len(known.shapes))
		}
		for _, sh := range known.shapes {
			for i, text := range sh.literal {
				if _, own := known.texts[text]; !own && text != "" {
					t.Errorf("position %d keeps %q", i, text)
				}
			}
		}
	}
}

func TestScriptEchoIsOfThisCall(t *testing.T) {
	const text = `if redis.call("get",KEYS[1]) == ARGV[1] then redis.call("del",KEYS[1]) return ARGV[1] end return KEYS[1]`
	scripts := newTestScripts()
	for _, token := range []string{"one", "two", "k", "del"} {
		s, err := eval(scripts, []byte(text), words("k"), words(token))
		if err != nil || string(s.Owned.Text) != token || string(s.Other.Text) != "k" || s.Other.Kind != ReplyBulk {
			t.Errorf("token %s: %v %v", token, s, err)
		}
	}
}

func TestScriptLoadAndSHA(t *testing.T) {
	scripts := NewScripts(2, 200)
	const sha = "abc" // of nothing
	if _, err := callScript("evalsha", scripts, []byte(sha), words("k"), words("t")); !errors.Is(err, ErrNoScript) || err.Error() != "NOSCRIPT No matching script. Please use EVAL." {
		t.Errorf("unknown: %v", err)
	}
	loaded, err := scripts.Load([]byte("return 1"))
	if err != nil || loaded != "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" {
		t.Fatalf("load: %q %v", loaded, err)
	}
	for sha, want := range map[string]bool{loaded: true, strings.ToUpper(loaded): true, loaded[1:]: false, "": false,
		strings.Replace(loaded, "0", "\x10", 1): false, strings.Repeat("z", 40): false, strings.Repeat("0", 40): false} {
		if scripts.Exists(sha) != want {
			t.Errorf("exists %q: %v", sha, !want)
		}
	}
	if _, err := callScript("evalsha", scripts, []byte(strings.ToUpper(loaded)), words("k"), nil); err == nil || !strings.Contains(err.Error(), loaded+" is not a take, release, extend or inspection of locks: it touches no key") {
		t.Errorf("refused: %v", err)
	}
	// At the limits: a third script pushes out the least recently used, 200 bytes fit and 201 do not.
	eval(scripts, []byte("return 2"), words("k"), nil)
	scripts.Exists(loaded)
	third, err := scripts.Load(append([]byte("return 3"), bytes.Repeat([]byte(" "), 192)...))
	if err != nil || !scripts.Exists(loaded) || !scripts.Exists(third) || scripts.recent.Len() != 2 || len(scripts.bySHA) != 2 {
		t.Errorf("third: %v", err)
	}
	if _, err := scripts.Load(bytes.Repeat([]byte(" "), 201)); err == nil || !strings.Contains(err.Error(), "script-bytes") {
		t.Errorf("one byte too many: %v", err)
	}
	scripts.Flush()
	if scripts.Exists(loaded) || scripts.Exists(third) {
		t.Error("there after flush")
	}
}

func TestScriptCompileError(t *testing.T) {
	for body, want := range map[string]string{
		"retrun 1":      "ERR Error compiling script (new function): user_script:1: ",
		"if x then\n":   "ERR Error compiling script (new function): user_script",
		"return 'a\r\n": "ERR Error compiling script (new function): user_script",
		"\x00":          "ERR Error compiling script (new function): user_script",
		"return \x1b\n": "ERR Error compiling script (new function): user_script",
	} {
		scripts := newTestScripts()
		_, err := scripts.Load([]byte(body))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q: %v", body, err)
		}
		if scripts.recent.Len() != 0 {
			t.Errorf("%q is kept", body)
		}
	}
}

// Redis's conversion of Lua values; what is expected was taken from Redis 7.0.15.
func TestScriptReplies(t *testing.T) {
	for value, want := range map[string]string{
		"nil": "nil", "false": "nil", "true": ":1", "3.99": ":3", "-3.99": ":-3", "'x'": `$"x"`, "''": `$""`, "12, 13": ":12",
		"redis.status_reply('X y')": "+X y", "{ok='X\\ny'}": "+X y", "{ok='c', 1}": "+c", "{err='a b', ok='c'}": "-a b",
		"{err='X'}": "-X", "{err='X\\r\\ny'}": "-X  y", "redis.error_reply('X')": "-ERR X", "redis.error_reply('X y')": "-X y",
		"redis.error_reply('-X')": "-ERR X", "redis.error_reply('-X y')": "-X y", "redis.error_reply('ERR x')": "-ERR x",
	} {
		text := "if redis.call('get',KEYS[1]) == ARGV[1] then redis.call('del',KEYS[1]) return 7 end return " + value
		s, err := eval(newTestScripts(), []byte(text), words("k"), words("tok"))
		if err != nil || showReply(s.Other) != want || showReply(s.Owned) != ":7" {
			t.Errorf("%s: %s %v, want %s", value, showReply(s.Other), err, want)
		}
	}
}
