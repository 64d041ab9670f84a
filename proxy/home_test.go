package proxy

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/commands"
	"redlockd/quorum"
)

var update = flag.Bool("update", false, "rewrite the golden conversations")

// always is a node that always says the same.
type always struct{ answer quorum.Answer }

func (a always) Name() string                                                   { return "node" }
func (a always) State() quorum.NodeState                                        { return quorum.NodeState{Name: "node", Health: quorum.Up} }
func (a always) Owe(*quorum.Request, time.Duration)                             {}
func (a always) Flush(time.Duration)                                            {}
func (a always) Admit() error                                                   { return nil }
func (a always) Send(_ *quorum.Request, _ time.Duration, v quorum.Voter, i int) { v.Hear(i, a.answer) }

func newTestServer(nodes ...quorum.Node) *Server {
	rules := quorum.Rules{MaxTTL: time.Hour, RoundLimit: time.Second, InFlight: 10}
	clock := func() time.Duration { return time.Hour } // it stands still: ages are the same in every run
	s := New(Options{
		Fleet:   quorum.NewFleet(nodes, rules, clock, func() float64 { return 0 }, nil),
		Scripts: commands.NewScripts(10, 1000),
		Locks:   LockRules{MaxTTL: time.Hour, PadTTL: true, MaxKey: 20, MaxToken: 20},
		Version: "test",
		Log:     slog.New(slog.DiscardHandler),
	})
	s.runID = strings.Repeat("a", 40)
	return s
}

// conversation sends each line as inline commands (" ; " stands between those that are pipelined) and returns the raw replies, with \r\n shown.
func conversation(t *testing.T, s *Server, lines []string) string {
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		ln := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		near, far := net.Pipe()
		ln.conns <- far
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		for _, line := range lines {
			fmt.Fprintf(&b, "> %s\n", line)
			if strings.HasPrefix(line, "#") || line == "" {
				continue
			}
			go near.Write([]byte(strings.ReplaceAll(line, " ; ", "\r\n") + "\r\n"))
			synctest.Wait()
			near.SetReadDeadline(time.Now().Add(time.Second))
			reply, _ := readAvailable(near)
			for part := range strings.Lines(reply) {
				fmt.Fprintf(&b, "< %s\n", strings.TrimSuffix(part, "\r\n"))
			}
		}
		near.Close()
		synctest.Wait()
		for _, g := range s.guards {
			g.stop()
		}
		<-served
	})
	return b.String()
}

// readAvailable reads until nothing more comes.
func readAvailable(c net.Conn) (string, error) {
	var all strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			return all.String(), err
		}
	}
}

type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *oneConn) Close() error   { close(l.closed); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestConversations replays the files in testdata/conversations: lines that begin with ">" are sent, those
// with "<" are what must come back. -update rewrites them.
func TestConversations(t *testing.T) {
	yes := always{quorum.Answer{Vote: quorum.Yes, Number: 1, Value: []byte("v"), Seen: []quorum.Held{{Exists: true, Value: []byte("v"), Left: 1}}}}
	no := always{quorum.Answer{Vote: quorum.No}}
	down := always{quorum.Answer{Err: io.ErrUnexpectedEOF}}
	for name, nodes := range map[string][]quorum.Node{
		"home": {yes, yes, yes}, "resp3": {yes, yes, yes}, "errors": {yes, yes, yes},
		"granted": {yes, yes, yes}, "denied": {no, no, no}, "undecided": {down, down, yes},
		"ways-granted": {yes, yes, yes}, "ways-denied": {no, no, no}, "ways-undecided": {down, down, yes},
		"client": {yes, yes, yes}, "admin": {yes, yes, yes}, "pubsub": {yes, yes, yes}, "commands": {yes, yes, yes}, "handshakes": {yes, yes, yes},
		"redlock": operated(yes), "reserved": {unasked{t: t}},
	} {
		t.Run(name, func(t *testing.T) {
			file := "testdata/conversations/" + name + ".txt"
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for line := range strings.Lines(string(golden)) {
				if sent, ok := strings.CutPrefix(line, "> "); ok {
					lines = append(lines, strings.TrimSuffix(sent, "\n"))
				}
			}
			got := conversation(t, newTestServer(nodes...), lines)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(golden) {
				t.Errorf("got\n%s\nwant\n%s", got, golden)
			}
		})
	}
}

// A panic of ours ends one connection, with an answer, and gives back what its batch was granted.
func TestPanicEndsOneConnection(t *testing.T) {
	node := &recorder{}
	s := newTestServer(node)
	s.Fleet = quorum.NewFleet([]quorum.Node{node}, quorum.Rules{MaxTTL: time.Hour, RoundLimit: time.Second, InFlight: 10},
		func() time.Duration { return 0 }, func() float64 { return 0 }, nil)
	node.panicOn = "boom"
	got := conversation(t, s, []string{"SET a t NX PX 1000 ; GET boom", "PING"})
	if !strings.Contains(got, "-ERR internal error") || strings.Contains(got, "PONG") || strings.Contains(got, "OK") {
		t.Fatal(got)
	}
	if n := s.panics.Load(); n != 1 {
		t.Fatalf("%d panics counted", n)
	}
	if len(node.owed) != 1 || node.owed[0].Op != quorum.TakeBack {
		t.Fatalf("owed: %v", node.owed)
	}
}

// recorder says yes to everything, but panics when asked for one key.
type recorder struct {
	always
	panicOn string
	owed    []*quorum.Request
}

func (r *recorder) Owe(req *quorum.Request, _ time.Duration) { r.owed = append(r.owed, req) }

func (r *recorder) Send(req *quorum.Request, _ time.Duration, v quorum.Voter, i int) {
	if string(req.Key) == r.panicOn {
		panic("a bug of ours")
	}
	v.Hear(i, quorum.Answer{Vote: quorum.Yes})
}

// Locks that are given max-ttl are counted.
func TestClampedIsCounted(t *testing.T) {
	s := newTestServer(always{quorum.Answer{Vote: quorum.Yes}})
	conversation(t, s, []string{"SETNX a t", "SET b t NX EX 3601", "SET c t NX EX 3600"})
	if n := s.clamped.Load(); n != 2 {
		t.Fatalf("%d", n)
	}
}

// What a client calls its commands does not forge lines of CLIENT LIST.
func TestClientListIsNotForged(t *testing.T) {
	s := newTestServer(always{})
	got := conversation(t, s, []string{`"x\nid=777"`, "CLIENT LIST"})
	if strings.Contains(got, "777") && strings.Contains(got, "cmd=x") || !strings.Contains(got, "cmd=client") {
		t.Fatal(got)
	}
}

// Replies of a long batch are written before it is complete.
func TestRepliesAreBounded(t *testing.T) {
	s := newTestServer(always{})
	line := strings.TrimSuffix(strings.Repeat("COMMAND DOCS ; ", 50), " ; ")
	got := conversation(t, s, []string{line})
	if n := strings.Count(got, "The value that a majority holds."); n != 50 {
		t.Fatalf("%d of 50 replies", n)
	}
}

// Of a transaction that is too long to be carried out nothing but its length is kept.
func TestLongTransactionIsOnlyCounted(t *testing.T) {
	c := &session{}
	kept := 0
	for range commands.MaxQueued {
		c.queue(&step{command: commands.Command{Args: [][]byte{make([]byte, 1000)}}})
	}
	for _, q := range c.transaction.queued {
		kept += len(q.Args)
	}
	if _, err := commands.Atomic(nil, 0, c.transaction.queued); err == nil || kept != commands.MaxCarriedOut {
		t.Fatalf("%d commands kept, %v", kept, err)
	}
}

// Nobody may make the nodes' answers so large that the votes behind them come too late.
func TestLooksAreBounded(t *testing.T) {
	s := newTestServer(always{quorum.Answer{Vote: quorum.Yes, Seen: make([]quorum.Held, maxLooked)}})
	keys := strings.Repeat(" k", maxLooked)
	got := conversation(t, s, []string{"MGET" + keys, "MGET k" + keys, "EXISTS k" + keys})
	if !strings.Contains(got, fmt.Sprintf("< *%d\n", maxLooked)) || strings.Count(got, "< -ERR more than 128 keys to look at in one command\n") != 1 {
		t.Fatal(got)
	}
}

// A connection that is idle has given back what a long pipeline took.
func TestIdleSessionIsSmall(t *testing.T) {
	withCrowd(t, 1, func(c *crowd) {
		c.say(0, strings.Repeat("PING ; ", 999)+"PING")
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		if got, _ := readAvailable(c.conns[0]); strings.Count(got, "PONG") != 1000 {
			t.Fatal(got)
		}
		synctest.Wait()
		for _, s := range c.server.sessions {
			if s.batch != nil || s.reply.out != nil {
				t.Errorf("keeps %+v and %d bytes", s.batch, cap(s.reply.out))
			}
		}
	})
}

// Nor is what it has given back larger than an ordinary batch needs.
func TestGivenBackBatchIsSmall(t *testing.T) {
	for _, size := range []int{0, 1} {
		b := &batch{steps: make([]step, 0, maxIdleSteps+size)}
		s := &session{batch: b, reply: reply{out: make([]byte, 0, maxIdleReply+size)}}
		s.close()
		if kept := b.steps != nil; kept != (size == 0) || (b.out != nil) != kept {
			t.Errorf("past the limit by %d: keeps %d steps and %d bytes", size, cap(b.steps), cap(b.out))
		}
	}
}
