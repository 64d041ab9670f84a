package proxy

import (
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Every input known to crash, spin or fill a bare redcon 1.6.2, from a raw socket, while another client works on.
func TestHostileInput(t *testing.T) {
	const refused = "-ERR Protocol error: "
	s := serveTCP(t, Limits{}, nil)
	friend := s.dial()
	for _, tc := range []struct{ name, in, want string }{
		{"1 length overflow", "*1\r\n$9223372036854775807\r\n", refused + "invalid bulk length\r\n"},
		{"1 negative length", "*1\r\n$-2\r\n", refused + "invalid bulk length\r\n"},
		{"2 huge bulk", "*1\r\n$536870912\r\n", refused + "invalid bulk length (above max-bulk)\r\n"},
		{"3 endless count", "*9223372036854775807\r\n", refused + "invalid multibulk length\r\n"},
		{"3 large count", "*1000000000\r\n", refused + "invalid multibulk length (above max-args)\r\n"},
		{"4 inline words", strings.Repeat("a ", 8192) + "\r\n", refused + "too big inline request (above max-args)\r\n"},
		{"5 no newline", strings.Repeat("a", 1<<20), refused + "too big inline request (above max-inline)\r\n"},
		{"5 endless header", "*" + strings.Repeat("1", 1<<20), refused + "too big mbulk count string\r\n"},
		{"6 large bulks", "*5\r\n" + strings.Repeat("$65536\r\n"+strings.Repeat("x", 65536)+"\r\n", 5),
			refused + "invalid bulk length (above max-command)\r\n"},
		{"11 empty length", "*1\r\n$\r\n", refused + "invalid bulk length\r\n"},
		{"11 zero and minus one", "*0\r\n*-1\r\nPING\r\n*x", "+PONG\r\n" + refused + "invalid multibulk length\r\n"},
		{"12 inline escapes", "ECHO \"\\x41\" '\\x41'\r\n*x", resp("ECHO", "A", `\x41`) + refused + "invalid multibulk length\r\n"},
		{"13 browser", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET k v\r\n", ""},
		{"13 browser's GET", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET k v\r\n", resp("GET", "/", "HTTP/1.1")},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", refused + "NUL byte in inline request\r\n"},
	} {
		c := s.dial()
		go io.WriteString(c, tc.in) // may fail: we stop reading at the error
		got := make([]byte, len(tc.want))
		if n, _ := io.ReadFull(c, got); string(got) != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got[:n], tc.want)
		}
		expectEnd(t, c)
		send(t, friend, "PING\r\n")
		expect(t, friend, "+PONG\r\n")
	}
}

// 2 and 7: redcon recurses once per Read and parses a half command again in each. A command byte by byte must leave its goroutine's
// stack small: bare, this one takes 32 MiB.
func TestTrickledCommand(t *testing.T) {
	s := serveTCP(t, Limits{}, nil)
	c := s.dial()
	in := resp("ECHO", strings.Repeat("x", 60000), "a", "b", "c")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	last := len(in) - 1
	for i := range last {
		send(t, c, in[i:i+1])
	}
	runtime.ReadMemStats(&after)
	send(t, c, in[last:])
	expect(t, c, in)
	if after.StackInuse > before.StackInuse+1<<20 {
		t.Errorf("the stacks grew by %d bytes", after.StackInuse-before.StackInuse)
	}
}

// 8: a pipeline that never ends on the boundary of a read.
func TestEndlessPipeline(t *testing.T) {
	s := serveTCP(t, Limits{}, nil)
	c := s.dial()
	const rounds = 200 // of 100 KB
	all := strings.Repeat(resp("ECHO", strings.Repeat("x", 1000)), 100)
	answered := make(chan struct{})
	go func() {
		io.CopyN(io.Discard, c, rounds*int64(len(all)))
		close(answered)
	}()
	rnd := rand.New(rand.NewPCG(1, 2))
	before := heap()
	for range rounds {
		for in := all; in != ""; {
			n := min(len(in), 1+rnd.IntN(5000))
			send(t, c, in[:n])
			in = in[n:]
		}
	}
	<-answered
	if grown := heapSettles(before + 1<<20); grown > before+1<<20 {
		t.Errorf("the heap grew by %d bytes", grown-before)
	}
}

// 6: what a big command needed is given back while the connection stays, by us and by redcon.
func TestBigCommandLeavesNoMemory(t *testing.T) {
	s := serveTCP(t, Limits{}, nil)
	const clients = 50
	conns := make([]net.Conn, clients)
	for i := range conns {
		conns[i] = s.dial()
		send(t, conns[i], "PING\r\n")
		expect(t, conns[i], "+PONG\r\n")
	}
	before := heap()
	big := strings.Repeat("x", 65000)
	for _, c := range conns {
		send(t, c, "PING\r\n"+resp("PING", big, big, big)+resp("PING", big)+"PING\r\n")
		expect(t, c, "+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n")
	}
	each := (heapSettles(before+clients*16<<10) - before) / clients
	if each > 16<<10 {
		t.Errorf("%d bytes kept by each connection", each)
	}
	t.Logf("%d bytes kept by each connection", each)
	for _, c := range conns {
		send(t, c, resp("PING", big)+"PING\r\n")
		expect(t, c, "+PONG\r\n+PONG\r\n")
	}
}

// heapSettles waits for what is still under way: a test sees its replies before the server is back at its wait.
func heapSettles(limit int) int {
	used := heap()
	for range 100 {
		if used <= limit {
			break
		}
		time.Sleep(50 * time.Millisecond)
		used = heap()
	}
	return used
}

// 10: what an idle connection costs, redcon's 8 KiB included.
func TestIdleConnectionIsSmall(t *testing.T) {
	s := serveTCP(t, Limits{}, nil)
	const clients = 200
	before := heap()
	for range clients {
		c := s.dial()
		send(t, c, resp("ECHO", "hello"))
		expect(t, c, resp("ECHO", "hello"))
	}
	each := (heapSettles(before+clients*16<<10) - before) / clients
	if each > 16<<10 {
		t.Errorf("%d bytes of heap each", each)
	}
	t.Logf("%d bytes of heap each, both ends", each)
}

// 9: a client that sends and never reads is cut off, and only then; others are served meanwhile.
func TestSlowReader(t *testing.T) {
	s := serveTCP(t, Limits{Write: time.Second}, nil)
	slow, friend := s.dial(), s.dial()
	go func() {
		in := strings.Repeat(resp("ECHO", strings.Repeat("x", 10000)), 100)
		for {
			if _, err := io.WriteString(slow, in); err != nil {
				return
			}
		}
	}()
	for c := s.guard.counters(); c.Accepted < 2 || c.Connections > 1; c = s.guard.counters() {
		send(t, friend, "PING\r\n")
		expect(t, friend, "+PONG\r\n")
		time.Sleep(10 * time.Millisecond)
	}
}

// Half-close in the middle of a command: the half is dropped, what was whole is answered.
func TestHalfCommandThenEnd(t *testing.T) {
	s := serveTCP(t, Limits{}, nil)
	c := s.dial()
	send(t, c, "PING\r\n*1\r\n$4\r\nPIN")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "+PONG\r\n")
	expectEnd(t, c)
	if err := <-s.closed; err != nil {
		t.Errorf("closed with %v", err)
	}
}
