package main

import (
	"bufio"
	"maps"
	"slices"
	"strings"
	"testing"

	"redlockd/bench/servers"
)

// What is recorded has to be right before anything is held to it: one Redis answers all of it, but for what only newer ones
// know, and what is to be refused.
func TestAgainstOneRedis(t *testing.T) {
	redis, err := servers.StartRedis(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { redis.Close() })
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	results := playAll(all, redis.Addr)
	for i, c := range all {
		r := <-results[i]
		_, mustFail := r.Checks[refused]
		mustFail = mustFail || c.header["needs"] != ""
		if failures := failed(r); mustFail != (len(failures) > 0) {
			t.Errorf("%s: failures %q, must fail: %v", c.file, failures, mustFail)
		}
	}
}

func failed(r row) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Checks)) {
		if text := r.Checks[name]; text != "ok" && text != "-" {
			list = append(list, name+": "+text)
		}
	}
	return list
}

// Whatever is not as it has to be is found out.
func TestFailuresAreFound(t *testing.T) {
	redis, err := servers.StartRedis(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { redis.Close() })
	const head = "language: a\nlibrary: b\nversion: 1\nhow: c\n"
	for _, c := range []struct{ name, check, text, want string }{
		{"early", "expiry", "1> SET $key $t1 PX 30 NX\n1< +OK\nawait 60000\n2> SET $key $t2 NX\n2< nil\n2= +OK\n",
			"line 9: it was free before its ttl was over"},
		{"neither busy nor free", "expiry", "1> PING\n1< +PONG\nawait 1\n1> GET $key\n1< +BUSY\n1= +OK\n", "line 9: GET answers nil, not +BUSY"},
		{"no lock", "counter", "1> SET $key $t1\n1< +OK\nincrement\n", "of 60 increments"},
		{"a reply is left", "take", "1> PSUBSCRIBE a b\n1< [\"psubscribe\" \"a\" :1]\n", `ECHO answers ["psubscribe" "b" :2]`},
		{"out of range", "take", "1> GET $key\n1< :1..3\n", "line 6: GET answers nil, not :1..3"},
	} {
		conversation, err := parse("test", head+"check "+c.check+"\n"+c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := outcome(conversation.play(c.check, redis.Addr)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, reply string
		want           bool
	}{
		{"+OK", "+OK", true},
		{"+OK", "+OKAY", false},
		{"?", "-ERR no", true},
		{"*", "-ERR no", false},
		{"*", `"a"`, true},
		{"-ERR*", "-ERR no", true},
		{"-ERR*", "-NOSCRIPT", false},
		{`"*role:master*"`, "\"a\nrole:master\nb\"", true},
		{":1..30", ":1", true},
		{":1..30", ":30", true},
		{":1..30", ":0", false},
		{":1..30", ":31", false},
		{":-2..-1", ":-2", true},
		{":1..30", "nil", false},
		{`["a" :1..30]`, `["a" :7]`, true},
		{`["a" :1..30]`, `["b" :7]`, false},
		{"[:1..2 :3..4]", "[:2 :5]", false},
		{"[*]", "[]", true},
		{"[(a)]", "[a]", false},
	} {
		if got := match(c.pattern, c.reply); got != c.want {
			t.Errorf("match(%q, %q) = %v", c.pattern, c.reply, got)
		}
	}
}

func TestRead(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR a b\r\n": "-ERR a b", ":-3\r\n": ":-3", "$-1\r\n": "nil", "*-1\r\n": "nil array", "_\r\n": "null",
		"$3\r\na\r\n\r\n": `"a\r\n"`, "*2\r\n:1\r\n*0\r\n": "[:1 []]", "%1\r\n$1\r\na\r\n#t\r\n": `{"a" #t}`, ">1\r\n$1\r\nx\r\n": `>["x"]`,
		"=7\r\ntxt:abc\r\n": "=txt:abc", "~1\r\n,1.5\r\n": "~[,1.5]",
	} {
		if got, err := read(bufio.NewReader(strings.NewReader(in))); got != want || err != nil {
			t.Errorf("read(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "+OK", "+OK\n", "\r\n", "!1\r\n", "$x\r\n", "$-2\r\n", "$5\r\nab\r\n", "*2\r\n:1\r\n", "*9999999999\r\n", strings.Repeat("*1\r\n", 20)} {
		if got, err := read(bufio.NewReader(strings.NewReader(in))); err == nil {
			t.Errorf("read(%q) = %s, and no error", in, got)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	const head = "language: a\nlibrary: b\nversion: 1\nhow: c\n"
	for _, c := range []struct{ text, want string }{
		{"check take\n1> PING\n1< +PONG\n", "no language"},
		{head, "has no check"},
		{head + "colour: red\n", "no header"},
		{head + "1> PING\n", "outside of connect and check"},
		{head + "check dance\n", "no check is called"},
		{head + "check take\n", "is empty"},
		{head + "check take\n1> PING\n", "not a reply for each command"},
		{head + "check take\n1> PING\n1> PING\n1< +PONG\n", "not a reply for each command"},
		{head + "check take\n1< +PONG\n", "without a command"},
		{head + "check take\n1> PING\n2< +PONG\n", "without a command"},
		{head + "check take\n1> PING\n1= +PONG\n", "is neither"},
		{head + "check take\n> PING\n", "connections are named"},
		{head + "connect\n1> PING\n", "connections are named"},
		{head + "check take\nawait\n1> PING\n1< +PONG\n", "not a reply for each command"},
		{head + "check take\n1> PING\n1< +PONG\nawait 5\n", "ends within"},
		{head + "check take\nawait soon\n", "invalid syntax"},
		{head + "check take\n1> EVAL $lua.a 0\n1< :1\n", "no script"},
		{head + "check take\n1> ECHO \"a\n", "bad command"},
		{head + "script a\nreturn 1\n", "ends within"},
		{head + "check take\n1> PING\n1< +PONG\ncheck take\n", "twice"},
	} {
		if _, err := parse("test", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", strings.TrimPrefix(c.text, head), err, c.want)
		}
	}
}
