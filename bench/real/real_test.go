package real

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/bench/servers"
)

const ms = time.Millisecond

// binary is redlockd, built with the race detector.
var binary string

func TestMain(m *testing.M) {
	// Tests that run in parallel wait more than they work. And a redlockd with the race detector need not sleep for a
	// second when it ends: what it has found is told at once.
	_ = flag.Set("test.parallel", "5")
	_ = os.Setenv("GORACE", "atexit_sleep_ms=10")
	dir, err := os.MkdirTemp("", "redlockd-test")
	if err == nil {
		binary, err = servers.BuildRedlockd(dir, "-race")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// fleet is real redis-servers, and redlockd over them.
type fleet struct {
	*testing.T
	nodes []*servers.Redis
	proxy *servers.Proxy
}

func real(t *testing.T, n int, flags ...string) fleet {
	t.Helper()
	nodes, err := servers.StartFleet(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		t.Cleanup(func() { node.Close() })
	}
	f := fleet{T: t, nodes: nodes}
	f.proxy = f.redlockd(flags...)
	f.waitUp(n)
	return f
}

// redlockd starts one more over the same nodes. The machine may be busy with others: what is tested here does not depend on
// fifty milliseconds.
func (f fleet) redlockd(flags ...string) *servers.Proxy {
	f.Helper()
	all := append([]string{"--nodes", servers.Nodes(f.nodes), "--node-timeout", "400ms", "--round-limit", "1s"}, flags...)
	p, err := servers.StartRedlockd(binary, all...)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := p.Close(); err != nil {
			f.Error(err)
		}
		if log := p.Log(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic: ") || strings.Contains(log, "panic in a session") {
			f.Errorf("redlockd said: %s", log)
		}
	})
	return p
}

func (f fleet) waitUp(n int) {
	f.Helper()
	c := f.client(f.proxy.Addr)
	want := fmt.Sprintf("nodes_vouched:%d\r", n)
	f.eventually("INFO says "+want, func() bool {
		info, _ := redis.String(c.Do("INFO", "redlock"))
		return strings.Contains(info, want)
	})
}

// eventually waits, generously: the machine may be busy with others.
func (f fleet) eventually(what string, ok func() bool) {
	f.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * ms) {
		if ok() {
			return
		}
	}
	f.Fatalf("never: %s\n%s", what, f.proxyLog())
}

func (f fleet) proxyLog() string {
	if f.proxy == nil {
		return ""
	}
	return f.proxy.Log()
}

func (f fleet) client(address string) redis.Conn {
	f.Helper()
	c, err := redis.Dial("tcp", address)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	return c
}

// holders is how many of the nodes that can be asked hold key with token.
func (f fleet) holders(key, token string) (n int) {
	for _, node := range f.nodes {
		c, err := redis.Dial("tcp", node.Addr, redis.DialReadTimeout(time.Second), redis.DialConnectTimeout(time.Second))
		if err != nil {
			continue
		}
		if v, err := redis.String(c.Do("GET", key)); err == nil && v == token {
			n++
		}
		c.Close()
	}
	return n
}

func (f fleet) wantHolders(key, token string, n int) {
	f.Helper()
	f.eventually(fmt.Sprintf("%d nodes hold %s for %s", n, key, token), func() bool { return f.holders(key, token) == n })
}

// command runs one of Redis's tools.
func (f fleet) command(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (f fleet) cli(address string, words ...string) string {
	f.Helper()
	host, port, _ := net.SplitHostPort(address)
	out, err := f.command("redis-cli", append([]string{"-h", host, "-p", port}, words...)...)
	if err != nil {
		f.Fatalf("redis-cli %v: %v: %s", words, err, out)
	}
	return out
}

const (
	compareAndDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	compareAndExpire = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
)

func TestRealRedisCLI(t *testing.T) {
	f := real(t, 5)
	do := func(want string, words ...string) {
		t.Helper()
		if got := f.cli(f.proxy.Addr, words...); got != want {
			t.Fatalf("redis-cli %v: %q, want %q", words, got, want)
		}
	}
	do("OK", "SET", "lock", "token", "NX", "PX", "30000")
	do("", "SET", "lock", "other", "NX", "PX", "30000")
	f.wantHolders("lock", "token", 5)
	do("token", "GET", "lock")
	do("0", "EVAL", compareAndDelete, "1", "lock", "other")
	do("1", "EVAL", compareAndExpire, "1", "lock", "token", "60000")
	do("1", "EVAL", compareAndDelete, "1", "lock", "token")
	f.wantHolders("lock", "token", 0)
	do("0", "EXISTS", "lock")
	do("PONG", "PING")
	do("ERR unknown command 'FOO', with args beginning with: 'bar'", "FOO", "bar")
	if got := f.cli(f.proxy.Addr, "-3", "HELLO"); !strings.Contains(got, "proto") || !strings.Contains(got, "3") {
		t.Fatalf("HELLO: %s", got)
	}
	if got := f.cli(f.proxy.Addr, "-3", "GET", "nope"); got != "" {
		t.Fatalf("nil in RESP3: %q", got)
	}
	for _, words := range [][]string{{"COMMAND", "DOCS"}, {"COMMAND"}, {"INFO"}, {"CLIENT", "LIST"}, {"CONFIG", "GET", "*"}, {"TIME"}, {"ROLE"}} {
		if got := f.cli(f.proxy.Addr, words...); got == "" || strings.HasPrefix(got, "ERR") {
			t.Fatalf("%v: %q", words, got)
		}
	}
}

func TestRealRedisBenchmark(t *testing.T) {
	f := real(t, 5)
	host, port, _ := net.SplitHostPort(f.proxy.Addr)
	for _, args := range [][]string{
		{"-t", "ping,set,get", "-n", "2000"},
		{"-n", "2000", "-c", "50", "-r", "1000000", "SET", "lock:__rand_int__", "token", "NX", "PX", "30000"},
		{"-n", "4000", "-c", "50", "-P", "16", "-r", "1000000", "SET", "lock:__rand_int__", "token", "NX", "PX", "30000"},
		{"-n", "1000", "-3", "-t", "set"},
	} {
		out, err := f.command("redis-benchmark", append([]string{"-h", host, "-p", port, "-q"}, args...)...)
		if err != nil || strings.Contains(out, "WARNING") || strings.Contains(out, "rror") || !strings.Contains(out, "requests per second") {
			t.Fatalf("redis-benchmark %v: %v\n%s", args, err, out)
		}
	}
	c := f.client(f.nodes[0].Addr)
	if n, err := redis.Int(c.Do("DBSIZE")); err != nil || n < 3000 {
		t.Fatalf("a node has %d locks (%v)", n, err)
	}
}

func TestR4RealReleaseThroughAnother(t *testing.T) {
	f := real(t, 3)
	second := f.redlockd()
	if r := f.cli(f.proxy.Addr, "SET", "lock", "t", "NX", "EX", "60"); r != "OK" {
		t.Fatal(r)
	}
	if r := f.cli(second.Addr, "EVAL", compareAndDelete, "1", "lock", "t"); r != "1" {
		t.Fatal(r)
	}
	f.wantHolders("lock", "t", 0)
}

// Scripts by hash, as client libraries send them, also after the nodes have lost ours.
func TestRealScriptsByHash(t *testing.T) {
	f := real(t, 3)
	c := f.client(f.proxy.Addr)
	script := redis.NewScript(1, compareAndDelete)
	if _, err := c.Do("EVALSHA", script.Hash(), 1, "lock", "t"); err == nil || err.Error() != "NOSCRIPT No matching script. Please use EVAL." {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Do("SET", "lock", "t", "NX", "PX", 60000); err != nil {
			t.Fatal(err)
		}
		if n, err := redis.Int(script.Do(c, "lock", "t")); err != nil || n != 1 {
			t.Fatalf("%v %v", n, err)
		}
		f.wantHolders("lock", "t", 0)
		for _, node := range f.nodes {
			f.cli(node.Addr, "SCRIPT", "FLUSH")
		}
	}
	if got := f.cli(f.proxy.Addr, "SCRIPT", "EXISTS", script.Hash(), "nope"); got != "1\n0" {
		t.Fatalf("%q", got)
	}
	if got := f.cli(f.proxy.Addr, "SCRIPT", "LOAD", compareAndExpire); got != redis.NewScript(1, compareAndExpire).Hash() {
		t.Fatalf("%q", got)
	}
	if _, err := c.Do("EVAL", "return redis.call('hset', KEYS[1], 'a', 'b')", 1, "k"); err == nil || !strings.Contains(err.Error(), "HSET") {
		t.Fatalf("a script that is no lock's: %v", err)
	}
}

// Binary and empty keys and tokens.
func TestRealBinary(t *testing.T) {
	f := real(t, 3)
	c := f.client(f.proxy.Addr)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, pair := range [][2]string{{string(all), string(all)}, {"k", ""}, {"", "t"}} {
		if r, err := redis.String(c.Do("SET", pair[0], pair[1], "NX", "PX", 60000)); err != nil || r != "OK" {
			t.Fatalf("%q: %v %v", pair, r, err)
		}
		if r, err := redis.String(c.Do("GET", pair[0])); err != nil || r != pair[1] {
			t.Fatalf("%q: %q %v", pair, r, err)
		}
		if r, err := redis.Int(c.Do("EVAL", compareAndDelete, 1, pair[0], pair[1])); err != nil || r != 1 {
			t.Fatalf("%q: %v %v", pair, r, err)
		}
	}
}

// It starts and answers while all nodes are down, and picks them up when they come.
func TestRealStartsWithoutNodes(t *testing.T) {
	f := real(t, 3)
	for _, node := range f.nodes {
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	f.proxy = f.redlockd()
	c := f.client(f.proxy.Addr)
	if r, err := redis.String(c.Do("PING")); err != nil || r != "PONG" {
		t.Fatal(r, err)
	}
	_, err := c.Do("SET", "lock", "t", "NX", "PX", 1000)
	if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM 0 yes, 0 no") {
		t.Fatal(err)
	}
	for _, node := range f.nodes {
		if err := node.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	f.waitUp(3)
	if r, err := redis.String(c.Do("SET", "lock", "t", "NX", "PX", 1000)); err != nil || r != "OK" {
		t.Fatal(r, err)
	}
}

// Nodes with a password and a database, and on a unix socket; the password is nowhere to be seen.
func TestRealNodeAddresses(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "r.sock")
	var nodes []*servers.Redis
	for _, args := range [][]string{{"--requirepass", "s3cret"}, {}, {"--unixsocket", socket}} {
		r, err := servers.StartRedis(dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		nodes = append(nodes, r)
	}
	f := fleet{T: t, nodes: nodes}
	p, err := servers.StartRedlockd(binary, "--nodes",
		"redis://:s3cret@"+nodes[0].Addr+"/3,"+nodes[1].Addr+",unix://"+socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	f.proxy = p
	f.waitUp(3)
	if r := f.cli(p.Addr, "SET", "lock", "t", "NX", "PX", "60000"); r != "OK" {
		t.Fatal(r)
	}
	f.wantHolders("lock", "t", 2)
	if v := f.cli(nodes[0].Addr, "-a", "s3cret", "--no-auth-warning", "-n", "3", "GET", "lock"); v != "t" {
		t.Fatalf("database 3: %q", v)
	}
	if info := f.cli(p.Addr, "INFO"); strings.Contains(info, "s3cret") || strings.Contains(p.Log(), "s3cret") {
		t.Fatal("the password can be seen")
	}
}

// The demo: no nodes given, three lines, and locks that expire.
func TestRealDemo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	text := ""
	for strings.Count(text, "\n") < 3 {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		text += string(buf[:n])
	}
	for _, want := range []string{"demo", "redis-cli -p ", "--nodes "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	address := strings.TrimSuffix(strings.Fields(text)[3], ":")
	f := fleet{T: t}
	c := f.client(address)
	f.eventually("granted", func() bool {
		r, err := redis.String(c.Do("SET", "mylock", "mytoken", "NX", "PX", 100))
		return err == nil && r == "OK"
	})
	f.eventually("expired, and granted again", func() bool {
		r, err := redis.String(c.Do("SET", "mylock", "other", "NX", "PX", 60000))
		return err == nil && r == "OK"
	})
	if n, err := redis.Int(c.Do("EVAL", compareAndDelete, 1, "mylock", "other")); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
