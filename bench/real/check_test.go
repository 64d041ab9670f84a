package real

// redlockd --check, over real nodes with everything wrong that can be.

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockd/bench/servers"
)

// doctor runs --check over nodes, and returns what it said of them and its exit status.
func (f fleet) doctor(nodes string, flags ...string) (said string, code int) {
	f.Helper()
	args := append([]string{"--check", "--dial-timeout", "30s", "--nodes", nodes}, flags...)
	out, err := exec.Command(binary, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		f.Fatal(err)
	}
	return string(out), code
}

// finds wants exactly these findings of --check, each "node: code: " or "node: warning: code: " followed by words that
// are anywhere in the line, and a hint.
func (f fleet) finds(nodes string, wants ...[2]string) {
	f.Helper()
	said, code := f.doctor(nodes)
	if code != 1 {
		f.Errorf("exit status %d", code)
	}
	var lines []string
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "redlockd: ") && !strings.Contains(line, ": ok, ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(wants) {
		f.Fatalf("want %q, got:\n%s", wants, said)
	}
	for i, want := range wants {
		if !strings.HasPrefix(lines[i], want[0]+": ") || !strings.Contains(lines[i], want[1]) || !strings.Contains(lines[i], " — ") {
			f.Errorf("want %q, got %q", want, lines[i])
		}
	}
}

func (f fleet) node(args ...string) *servers.Redis {
	f.Helper()
	r, err := servers.StartRedis(f.TempDir(), args...)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close() })
	return r
}

func TestRealCheckAllIsWell(t *testing.T) {
	f := fleet{T: t}
	for range 3 {
		f.nodes = append(f.nodes, f.node())
	}
	f.cli(f.nodes[0].Addr, "SET", "redlockd:boot", "abc:def:0")
	f.cli(f.nodes[1].Addr, "SET", "lock", "token", "PX", "600000")
	said, code := f.doctor(servers.Nodes(f.nodes))
	if code != 0 || strings.Count(said, "\n") != 5 || !strings.Contains(said, "redlockd: nodes: 3, all fine\n") {
		t.Fatalf("exit status %d: %s", code, said)
	}
	for _, node := range f.nodes {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(node.Addr) + `: ok, (redis|valkey) \d+\.\d+\.\d+, run_id [0-9a-f]{40}$`)
		if !line.MatchString(said) {
			t.Errorf("%v is not in %s", line, said)
		}
		if keys := f.cli(node.Addr, "KEYS", "redlockd:probe"); keys != "" {
			t.Error("the probe is still there")
		}
	}
}

func TestR9RealCheckReplica(t *testing.T) {
	f := fleet{T: t}
	master := f.node()
	host, port, _ := net.SplitHostPort(master.Addr)
	replica := f.node("--replicaof", host+" "+port)
	f.eventually("the replica is connected", func() bool {
		return strings.Contains(f.cli(master.Addr, "INFO", "replication"), "connected_slaves:1") &&
			strings.Contains(f.cli(replica.Addr, "INFO", "replication"), "master_link_status:up")
	})
	f.finds(master.Addr+","+replica.Addr,
		[2]string{master.Addr + ": warning: replicas", "1 replica"},
		[2]string{replica.Addr + ": replica", "is a replica of " + master.Addr})
}

func TestRealCheckWrongKind(t *testing.T) {
	f := fleet{T: t}
	cluster := f.node("--cluster-enabled", "yes")
	evicts := f.node("--maxmemory-policy", "allkeys-lru")
	f.finds(cluster.Addr+","+evicts.Addr,
		[2]string{cluster.Addr + ": cluster", "cluster mode"},
		[2]string{evicts.Addr + ": evicts", "allkeys-lru"})
	f.finds(cluster.Addr+"/2", [2]string{cluster.Addr + "/2: cluster", "cluster mode"})
	f.finds(evicts.Addr+"/99", [2]string{evicts.Addr + "/99: database", "does not have the database"})
}

// A full node says so before it refuses locks for it.
func TestRealCheckFull(t *testing.T) {
	f := fleet{T: t}
	node := f.node("--maxmemory", "100kb", "--maxmemory-policy", "noeviction")
	f.finds(node.Addr,
		[2]string{node.Addr + ": warning: memory", "% of its maxmemory"},
		[2]string{node.Addr + ": warning: refuses", "OOM"})
}

func TestRealCheckTwin(t *testing.T) {
	f := fleet{T: t}
	node, other := f.node(), f.node()
	_, port, _ := net.SplitHostPort(node.Addr)
	again := "localhost:" + port
	f.finds(node.Addr+","+other.Addr+","+again+","+node.Addr+"/1",
		[2]string{again + ": twin", "same instance as " + node.Addr},
		[2]string{node.Addr + "/1: twin", "same instance as " + node.Addr})
}

func TestRealCheckPassword(t *testing.T) {
	f := fleet{T: t}
	locked, open := f.node("--requirepass", "s3cret"), f.node()
	for _, c := range []struct{ credentials, address, words string }{
		{":wr0ng@", locked.Addr, "does not accept"},
		{"nobody:s3cret@", locked.Addr, "does not accept"},
		{"", locked.Addr, "wants a password"},
		{":s3cret@", open.Addr, "has none"},
		{"nobody:s3cret@", open.Addr, "does not accept"},
	} {
		nodes := "redis://" + c.credentials + c.address
		f.finds(nodes, [2]string{c.address + ": password", c.words})
		if said, _ := f.doctor(nodes); strings.Contains(said, "s3cret") || strings.Contains(said, "wr0ng") {
			t.Errorf("the password can be seen: %s", said)
		}
		f.finds(nodes+"/3", [2]string{c.address + "/3: password", c.words})
	}
	if said, code := f.doctor("redis://:s3cret@" + locked.Addr); code != 0 || strings.Contains(said, "s3cret") {
		t.Errorf("exit status %d: %s", code, said)
	}
}

// documentedRights is the line that the README tells people to run.
func documentedRights(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(readme)) {
		if words := strings.Fields(line); len(words) > 3 && strings.HasPrefix(line, "    ACL SETUSER redlockd ") {
			return words
		}
	}
	t.Fatal("the README does not say what rights redlockd needs")
	return nil
}

// With the documented rights and no others all is well, and redlockd works.
func TestRealRightsAreEnough(t *testing.T) {
	f := fleet{T: t}
	var nodes []string
	for range 3 {
		n := f.node()
		f.nodes = append(f.nodes, n)
		if r := f.cli(n.Addr, documentedRights(t)...); r != "OK" {
			t.Fatal(r)
		}
		nodes = append(nodes, "redis://redlockd:secret@"+n.Addr)
	}
	list := strings.Join(nodes, ",")
	if said, code := f.doctor(list); code != 0 || strings.Contains(said, "secret") {
		t.Fatalf("exit status %d: %s", code, said)
	}
	f.proxy = f.redlockd("--node-timeout", "400ms", "--round-limit", "2s", "--nodes", list)
	f.waitUp(3)
	do := func(want string, words ...string) {
		t.Helper()
		if got := f.cli(f.proxy.Addr, words...); got != want {
			t.Fatalf("redis-cli %v: %q, want %q", words, got, want)
		}
	}
	do("OK", "SET", "lock", "token", "NX", "PX", "60000")
	f.wantHolders("lock", "token", 3)
	do("", "SET", "lock", "other", "NX", "PX", "60000")
	do("token", "GET", "lock")
	do("1", "EXISTS", "lock")
	do("1", "PEXPIRE", "lock", "50000")
	do("1", "EVAL", compareAndExpire, "1", "lock", "token", "90000")
	for _, n := range f.nodes {
		f.cli(n.Addr, "SCRIPT", "FLUSH")
	}
	do("1", "EVAL", compareAndDelete, "1", "lock", "token")
	f.wantHolders("lock", "token", 0)
	do("OK", "SET", "lock", "token", "NX", "PX", "60000")
	do("1", "DEL", "lock")
	f.wantHolders("lock", "token", 0)
	if info := f.cli(f.proxy.Addr, "INFO", "redlock"); strings.Contains(info, "NOPERM") || strings.Contains(f.proxy.Log(), "refuses") {
		t.Errorf("%s\n%s", info, f.proxy.Log())
	}
}

// None of the documented rights is there for nothing, and the one that is missing is named.
func TestRealRightsAreNeeded(t *testing.T) {
	f := fleet{T: t}
	node := f.node()
	rights := documentedRights(t)
	tried := 0
	for i, right := range rights {
		name, ok := strings.CutPrefix(right, "+")
		if !ok {
			continue
		}
		tried++
		user := fmt.Sprintf("user%d", i)
		words := slices.Delete(slices.Clone(rights), i, i+1)
		words[2] = user
		if r := f.cli(node.Addr, words...); r != "OK" {
			t.Fatal(r)
		}
		f.finds("redis://"+user+":secret@"+node.Addr, [2]string{node.Addr + ": rights", "run " + name + " — give it +" + name + " ("})
	}
	if tried < 15 {
		t.Fatalf("only %d rights in %v", tried, rights)
	}
	for user, keys := range map[string]string{"locksonly": "~lock:*", "readsonly": "%R~*"} {
		words := slices.Clone(rights)
		words[2] = user
		words[slices.Index(words, "~*")] = keys
		if r := f.cli(node.Addr, words...); r != "OK" {
			t.Fatal(r)
		}
		f.finds("redis://"+user+":secret@"+node.Addr, [2]string{node.Addr + ": rights", "the keys redlockd:*"})
	}

	// A database needs one right more; and one who may do nothing is told all that is known.
	f.cli(node.Addr, rights...)
	f.finds("redis://redlockd:secret@"+node.Addr+"/2", [2]string{node.Addr + "/2: rights", "run select"})
	f.cli(node.Addr, "ACL", "SETUSER", "redlockd", "+select")
	if said, code := f.doctor("redis://redlockd:secret@" + node.Addr + "/2"); code != 0 {
		t.Errorf("exit status %d: %s", code, said)
	}
	f.cli(node.Addr, "ACL", "SETUSER", "nobody", "on", ">secret", "~*", "+info", "+eval", "+get")
	f.finds("redis://nobody:secret@"+node.Addr, [2]string{node.Addr + ": rights", "run script|load, set, strlen, pttl, pexpire, exists, del, dbsize, scan, time, evalsha, client|id, client|kill, ping "})
}

func TestRealCheckForeignData(t *testing.T) {
	f := fleet{T: t}
	node := f.node()
	f.cli(node.Addr, "SET", "somebody", "else's")
	f.finds(node.Addr, [2]string{node.Addr + ": warning: foreign", "1 key without expiry"})
	f.cli(node.Addr, "SET", "redlockd:boot", "abc:def:0")
	f.finds(node.Addr, [2]string{node.Addr + ": warning: foreign", "1 key without expiry"})
	f.cli(node.Addr, "-n", "3", "SET", "session", "x", "EX", "6000")
	f.finds(node.Addr,
		[2]string{node.Addr + ": warning: foreign", "1 key without expiry"},
		[2]string{node.Addr + ": warning: foreign", "other databases (3)"})
	f.finds(node.Addr+"/3", [2]string{node.Addr + "/3: warning: foreign", "other databases (0)"})
}

// listener answers every connection with words, and then says nothing more.
func listener(t *testing.T, words string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			_, _ = c.Write([]byte(words))
		}
	}()
	return ln.Addr().String()
}

func TestRealCheckNobodyThere(t *testing.T) {
	f := fleet{T: t}
	down := f.node()
	if err := down.Kill(); err != nil {
		t.Fatal(err)
	}
	web := listener(t, "HTTP/1.1 400 Bad Request\r\n\r\n")
	liar := listener(t, "$9223372036854775807\r\n")
	echo := listener(t, "-ERR unknown command `AUTH`, with args beginning with: `s3cret`\r\n")
	f.finds(down.Addr+","+web+","+liar+",redis://:s3cret@"+liar+"/1,redis://:s3cret@"+echo,
		[2]string{down.Addr + ": unreachable", "connection refused"},
		[2]string{web + ": not-redis", "Redis protocol"},
		[2]string{liar + ": not-redis", "Redis protocol"},
		[2]string{liar + "/1: not-redis", "Redis protocol"},
		[2]string{echo + ": refuses", "unknown command `AUTH`)"})
}

// Who says nothing is waited for no longer than dial-timeout.
func TestRealCheckSilence(t *testing.T) {
	f := fleet{T: t}
	mute, paused := listener(t, ""), f.node()
	if err := paused.Pause(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	said, code := f.doctor(mute+",redis://:s3cret@"+mute+"/1,"+paused.Addr, "--dial-timeout", "200ms")
	if took := time.Since(began); code != 1 || strings.Count(said, ": unreachable: cannot be reached (not answering) — ") != 3 || took > 20*time.Second {
		t.Fatalf("exit status %d after %v: %s", code, took, said)
	}
	if !strings.Contains(said, "redlockd: nodes: 3, not usable: 3, with warnings: 0; a majority is 2: no lock can be taken\n") {
		t.Error(said)
	}
}

// A redlockd is no node.
func TestRealCheckRedlockd(t *testing.T) {
	f := real(t, 1)
	said, code := f.doctor(f.proxy.Addr)
	if code != 1 || !strings.Contains(said, f.proxy.Addr+": not-redis: is a redlockd itself — ") {
		t.Fatalf("exit status %d: %s", code, said)
	}
}

func TestRealFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--version"}, 0, "redlockd "},
		{[]string{"--help"}, 0, "--node-timeout"},
		{[]string{"--check"}, 0, "valid"},
		{[]string{"--check", "--nodes", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"}, 1, "valid"},
		{[]string{"--check", "--nodes", "127.0.0.1:1,127.0.0.1:2"}, 1, "warning: nodes"},
		{[]string{"--check", "--node-timeout", "0", "--max-ttl", "x"}, 2, "--max-ttl"},
		{[]string{"--check", "--node-timeout", "0", "--max-ttl", "x"}, 2, "--node-timeout"},
		{[]string{"--nonsense"}, 2, "nonsense"},
	} {
		cmd := exec.Command(binary, c.args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, out)
		}
	}
}

// R9: one master with a replica is no redlock; a fleet of one is warned about.
func TestR9OneNodeIsWarnedAbout(t *testing.T) {
	nodes, err := servers.StartFleet(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nodes[0].Close() })
	out, err := exec.Command(binary, "--check", "--dial-timeout", "30s", "--nodes", nodes[0].Addr).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "warning: nodes") {
		t.Fatalf("%v: %s", err, out)
	}
}
