package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// realRedis is one that listens on a free port for as long as the test runs.
func realRedis(t testing.TB) redis.Conn {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("there is no redis-server: ./test.sh installs it")
	}
	for range 5 { // somebody else may be faster with the port
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		server := exec.Command("redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Process.Kill(); server.Wait() })
		for range 200 {
			if c, err := redis.Dial("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
				t.Cleanup(func() { c.Close() })
				return c
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	t.Fatal("redis-server does not start")
	return nil
}

func anyOf(words ...[]byte) []any {
	all := make([]any, len(words))
	for i := range words {
		all[i] = words[i]
	}
	return all
}

// replyFrom is what Redis has answered.
func replyFrom(v any, err error) Reply {
	if err != nil {
		return Reply{Kind: ReplyError, Text: []byte(err.Error())}
	}
	switch v := v.(type) {
	case int64:
		return Reply{Kind: ReplyInt, Int: v}
	case string:
		return Reply{Kind: ReplyStatus, Text: []byte(v)}
	case []byte:
		return Reply{Kind: ReplyBulk, Text: v}
	case []any:
		r := Reply{Kind: ReplyArray}
		for _, item := range v {
			e, _ := item.(error)
			r.Items = append(r.Items, replyFrom(item, e))
		}
		return r
	default:
		return Reply{}
	}
}

// slow is how late a test may come to look at a remaining time: far less than what the expiries of samples differ by.
const slow = 12_000

// near says that two replies are one, but for remaining times that were not read at the same moment.
func near(a, b Reply) bool {
	if a.Kind != b.Kind || !bytes.Equal(a.Text, b.Text) || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if !near(a.Items[i], b.Items[i]) {
			return false
		}
	}
	late := a.Int - b.Int
	return late == 0 || a.Int > 50 && b.Int > 50 && late >= 0 && late <= slow
}

// nearFate compares fates as nearly; a key may also expire at an instant.
func nearFate(predicted, really string) bool {
	var a, b int64
	var valueA, valueB, kind string
	fmt.Sscanf(predicted, "%q %s %d", &valueA, &kind, &a)
	fmt.Sscanf(really, "%q in %d", &valueB, &b)
	if kind == "at" {
		a -= time.Now().UnixMilli()
	}
	return predicted == really || kind != "for" && valueA == valueB && a-b >= -slow && a-b <= slow && b > 0
}

// runReally runs a script on a real Redis, and tells its reply and what has become of all keys.
func runReally(t testing.TB, conn redis.Conn, db int, body []byte, keys, args [][]byte, state held) (Reply, map[string]string) {
	calls := 0
	send := func(name string, args ...any) { conn.Send(name, args...); calls++ }
	send("FLUSHALL")
	send("SELECT", db)
	for name, s := range state {
		switch {
		case !s.Exists:
		case s.Left > 0:
			send("SET", name, s.Value, "PX", s.Left.Milliseconds())
		default:
			send("SET", name, s.Value)
		}
	}
	send("SELECT", 0)
	send("EVAL", append(append([]any{body, len(keys)}, anyOf(keys...)...), anyOf(args...)...)...)
	send("SELECT", db)
	send("KEYS", "*")
	conn.Flush()
	for range calls - 3 {
		conn.Receive()
	}
	reply := replyFrom(conn.Receive())
	conn.Receive()
	names, err := redis.Strings(conn.Receive())
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, name := range names {
		value, _ := redis.Bytes(conn.Do("GET", name))
		ms, _ := redis.Int64(conn.Do("PTTL", name))
		all[name] = fate(value, left(Seen{Left: time.Duration(ms) * time.Millisecond}))
	}
	return reply, all
}

// agrees compares what a script does on a real Redis, in sampled states, with what its Command says, if it is recognised. It returns in how
// many states.
func agrees(t testing.TB, conn redis.Conn, name string, body []byte, keys, args [][]byte, n int, rnd *rand.Rand) (compared int) {
	c, err := eval(newTestScripts(), body, keys, args)
	if err != nil {
		return 0
	}
	for _, state := range samples(&c, body, keys, args, n, rnd) {
		if spare(&c, state) {
			continue
		}
		reply, really := runReally(t, conn, max(c.DB, 0), body, keys, args, state)
		after, want, err := predict(&c, state)
		if err != nil && c.Verb == Inspect {
			continue // refused after a look: nothing has been done
		}
		// Behind an error that ends the script, Redis says where.
		if told, _, found := strings.Cut(string(reply.Text), " script: "); found && want.Kind == ReplyError && told == string(want.Text) {
			reply = want
		}
		same := len(really) == len(after)
		for key, is := range really {
			same = same && nearFate(after[key], is)
		}
		if err != nil || !same || !near(want, reply) {
			t.Errorf("%s: %s: %v:\npredicted %v %s (%v)\nbut it is %v %s\n%s", name, show(c, nil), state, after, showReply(want), err, really, showReply(reply), body)
			return compared
		}
		compared++
	}
	return compared
}

// TestScriptRedis runs every recognised script of the corpus on a real Redis.
func TestScriptRedis(t *testing.T) {
	conn := realRedis(t)
	for _, s := range corpus(t) {
		agrees(t, conn, s.name, s.body, s.keys, s.args, 25, rand.New(rand.NewPCG(7, 7)))
	}
}

// What a read-only script may not do, and functions that are not there, in Redis's own words.
func TestScriptReadOnlyWords(t *testing.T) {
	conn := realRedis(t)
	for _, call := range [][][]byte{
		words("eval_ro", `return redis.call("set", KEYS[1], ARGV[1], "NX")`, "1", "k", "v"),
		words("eval_ro", "if redis.call('get', KEYS[1]) == false then\n\n return redis.call('setnx', KEYS[1], ARGV[1])\nend return 0", "1", "k", "v"),
		words("evalsha_ro", strings.Repeat("0", 40), "0"), words("evalsha", "abc", "0"), words("evalsha_ro", "abc", "2", "a"),
		words("eval", "return 1", "2", "a"), words("eval", "return 1", "-1", "a"), words("eval", "return 1", "x"), words("eval", "return 1"),
		words("eval", "#!lua flags=no-writes\nreturn redis.call('set', KEYS[1], ARGV[1], 'NX')", "1", "k", "v"),
		words("eval_ro", "#!lua\nreturn redis.call('get', KEYS[1])", "1", "k"), words("eval", "#!lua flags=no-writes", "1", "k"),
		words("eval", "#!lua flags=,no\nreturn 1", "0"), words("eval", "#!lua name=x\nreturn 1", "0"), words("eval", "#!python\nreturn 1", "0"),
		words("fcall", "f", "x"), words("fcall", "f", "1"), words("fcall_ro", "f", "0"), words("fcall", "f"), words("fcall_ro"),
	} {
		err := new(Command).Parse(call, newTestScripts())
		_, want := conn.Do(string(call[0]), anyOf(call[1:]...)...)
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%q: %v, Redis says %v", call, err, want)
		}
	}
}
