package servers

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockd/bench/resp"
)

const asChild = "REDLOCKD_SERVERS_TEST_CHILD"

// TestMain can also play the parent that is killed (TestChildrenDieWithUs).
func TestMain(m *testing.M) {
	dir := os.Getenv(asChild)
	if dir == "" {
		os.Exit(m.Run())
	}
	r, err := StartRedis(dir)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(r.Addr)
	time.Sleep(time.Minute)
}

func start(t *testing.T, args ...string) *Redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not installed: ./test.sh installs it")
	}
	r, err := StartRedis(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, r.Close()) })
	return r
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, r *Redis, args ...string) string {
	t.Helper()
	reply, err := resp.Do(r.Addr, 5*time.Second, args...)
	check(t, err)
	return reply.Text
}

func TestRestartForgets(t *testing.T) {
	r := start(t)
	ask(t, r, "SET", "k", "v")
	addr, pid := r.Addr, r.Pid()
	check(t, r.Kill())
	if _, err := resp.Do(r.Addr, time.Second, "PING"); err == nil {
		t.Fatal("a killed server answers")
	}
	check(t, r.Kill())
	check(t, r.Restart())
	if r.Addr != addr || r.Pid() == pid || ask(t, r, "GET", "k") != "" {
		t.Fatal("not a fresh server on the same port")
	}
	check(t, r.Restart()) // also while it runs
}

func TestPausedAnswersLater(t *testing.T) {
	r := start(t)
	check(t, r.Pause())
	if _, err := resp.Do(r.Addr, 100*time.Millisecond, "SET", "k", "v"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	check(t, r.Resume())
	if ask(t, r, "PING") != "PONG" {
		t.Fatal("no pong")
	}
	check(t, r.Pause())
	check(t, r.Close())
	check(t, r.Close())
	if err := r.Pause(); !errors.Is(err, errEnded) {
		t.Fatalf("pausing a closed server: %v", err)
	}
}

func TestFleet(t *testing.T) {
	start(t) // skips where there is no redis-server
	fleet, err := StartFleet(t.TempDir(), 5)
	check(t, err)
	addrs := map[string]bool{}
	for _, r := range fleet {
		addrs[r.Addr] = true
		check(t, r.Close())
	}
	if len(addrs) != 5 || strings.Count(Nodes(fleet), ",") != 4 {
		t.Fatalf("got %s", Nodes(fleet))
	}
}

func TestBadArgumentIsNotRetried(t *testing.T) {
	start(t)
	began := time.Now()
	_, err := StartRedis(t.TempDir(), "--no-such-option", "1")
	if err == nil || errors.Is(err, errPortTaken) || !strings.Contains(err.Error(), "no-such-option") {
		t.Fatalf("got %v", err)
	}
	if time.Since(began) > 5*time.Second {
		t.Fatal("took too long to give up")
	}
}

// A port taken between choosing and binding, first by one that says nothing useful, then by another Redis that
// answers PING perfectly well.
func TestTakenPortIsNotOurs(t *testing.T) {
	r := start(t)
	if _, err := startAt(r.port, r.launch); !errors.Is(err, errPortTaken) {
		t.Fatalf("beside another redis: %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer ln.Close()
	if _, err := startAt(ln.Addr().(*net.TCPAddr).Port, r.launch); !errors.Is(err, errPortTaken) {
		t.Fatalf("beside a mute listener: %v", err)
	}
}

// A parent that is killed outright cannot clean up; its servers must be gone all the same.
func TestChildrenDieWithUs(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("Pdeathsig is Linux's")
	}
	start(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asChild+"="+t.TempDir())
	out, err := parent.StdoutPipe()
	check(t, err)
	check(t, parent.Start())
	defer func() { _ = parent.Wait() }()
	defer func() { _ = parent.Process.Kill() }()
	addr, err := bufio.NewReader(out).ReadString('\n')
	check(t, err)
	addr = strings.TrimSpace(addr)
	if _, err := resp.Do(addr, 5*time.Second, "PING"); err != nil {
		t.Fatalf("%s: %v", addr, err)
	}
	check(t, parent.Process.Signal(syscall.SIGKILL))
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("the server outlived the process that started it")
		}
	}
}

// fakeProxy is a redis-server that takes redlockd's --listen, so that this package is tested without the product.
func fakeProxy(t *testing.T, also string) string {
	t.Helper()
	start(t)
	path := filepath.Join(t.TempDir(), "fake")
	script := "#!/bin/sh\necho started >&2\n" + also + "\nexec redis-server --bind 127.0.0.1 --save '' --port ${2##*:}\n"
	check(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestProxy(t *testing.T) {
	p, err := StartRedlockd(fakeProxy(t, ""), "--nodes", "x")
	check(t, err)
	defer p.Close()
	if !strings.HasPrefix(p.Log(), "started\n") {
		t.Fatalf("log: %q", p.Log())
	}
	if _, err := p.Wait(10 * time.Millisecond); err == nil {
		t.Fatal("a running process has ended")
	}
	check(t, p.Signal(syscall.SIGTERM))
	code, err := p.Wait(10 * time.Second)
	if check(t, err); code != 0 {
		t.Fatalf("code %d", code)
	}
	<-p.Done()
	check(t, p.Close())
	check(t, p.Kill())
}

func TestProxyPausedIsClosed(t *testing.T) {
	p, err := StartRedlockd(fakeProxy(t, ""))
	check(t, err)
	check(t, p.Signal(syscall.SIGSTOP))
	check(t, p.Close())
}

func TestProxyThatFailsShowsItsLog(t *testing.T) {
	_, err := StartRedlockd(fakeProxy(t, "echo no nodes given >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "code 3") || !strings.Contains(err.Error(), "no nodes given") {
		t.Fatalf("got %v", err)
	}
}

func TestModuleRoot(t *testing.T) {
	root, err := ModuleRoot()
	check(t, err)
	if _, err := os.Stat(filepath.Join(root, "bench", "servers", "servers_test.go")); err != nil {
		t.Fatal(err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	for i := range 100_000 {
		fmt.Fprintf(&log, "line %s\n", strconv.Itoa(i))
	}
	if got := log.String(); len(got) != logLimit || !strings.HasSuffix(got, "line 99999\n") {
		t.Fatalf("%d bytes", len(got))
	}
	if got := log.lastLines(2); got != "line 99998\nline 99999" {
		t.Fatalf("got %q", got)
	}
}
