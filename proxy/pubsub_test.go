package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
)

// crowd is several clients of one server.
type crowd struct {
	t      *testing.T
	server *Server
	conns  []net.Conn
}

// withCrowd runs f in a bubble of virtual time.
func withCrowd(t *testing.T, clients int, f func(c *crowd)) {
	s := newTestServer(always{quorum.Answer{Vote: quorum.Yes, Number: 1}})
	synctest.Test(t, func(t *testing.T) {
		ln := &oneConn{conns: make(chan net.Conn, clients), closed: make(chan struct{})}
		c := &crowd{t: t, server: s}
		for range clients {
			near, far := net.Pipe()
			ln.conns <- far
			c.conns = append(c.conns, near)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		synctest.Wait()
		f(c)
		for _, conn := range c.conns {
			conn.Close()
		}
		synctest.Wait()
		for _, g := range s.guards {
			g.stop()
		}
		<-served
		for kind := range topicKinds {
			if n := s.hub.size(kind); n != 0 {
				t.Errorf("%d names are left of kind %d", n, kind)
			}
		}
	})
}

// say sends a line, and does not wait.
func (c *crowd) say(i int, line string) {
	c.t.Helper()
	go c.conns[i].Write([]byte(strings.ReplaceAll(line, " ; ", "\r\n") + "\r\n"))
	synctest.Wait()
}

// hears what has come in for a client, CRLF shown as a blank.
func (c *crowd) hears(i int, want string) {
	c.t.Helper()
	c.conns[i].SetReadDeadline(time.Now().Add(time.Millisecond))
	got, _ := readAvailable(c.conns[i])
	if got = strings.TrimSpace(strings.ReplaceAll(got, "\r\n", " ")); got != want {
		c.t.Errorf("client %d hears %q, want %q", i, got, want)
	}
}

// eof says whether the connection has been closed, after whatever was written to it.
func (c *crowd) eof(i int) bool {
	c.conns[i].SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := readAvailable(c.conns[i])
	return err.Error() == "EOF"
}

func TestMessagesReachSubscribers(t *testing.T) {
	withCrowd(t, 3, func(c *crowd) {
		c.say(0, "SUBSCRIBE news")
		c.hears(0, "*3 $9 subscribe $4 news :1")
		c.say(1, "HELLO 3 ; PSUBSCRIBE n*")
		c.conns[1].SetReadDeadline(time.Now().Add(time.Millisecond))
		readAvailable(c.conns[1])
		c.say(2, "PUBLISH news hello ; PUBLISH noise bang ; PUBLISH other x")
		c.hears(2, ":2 :1 :0")
		c.hears(0, "*3 $7 message $4 news $5 hello")
		c.hears(1, ">4 $8 pmessage $2 n* $4 news $5 hello >4 $8 pmessage $2 n* $5 noise $4 bang")
		c.say(2, "PUBSUB CHANNELS ; PUBSUB NUMPAT")
		c.hears(2, "*1 $4 news :1")
		c.say(0, "RESET")
		c.hears(0, "+RESET")
		c.conns[1].Close()
		synctest.Wait()
		c.say(2, "PUBLISH news hello ; PUBSUB NUMPAT")
		c.hears(2, ":0 :0")
	})
}

// A protocol that is chosen after the subscription is the one that messages come in.
func TestMessagesFollowHello(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		c.say(0, "HELLO 3 ; SUBSCRIBE a ; HELLO 2")
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		readAvailable(c.conns[0])
		c.say(1, "PUBLISH a x")
		c.hears(1, ":1")
		c.hears(0, "*3 $7 message $1 a $1 x")
	})
}

// Messages wait behind the confirmation of their subscription, and those from before an UNSUBSCRIBE come before its.
func TestMessagesKeepTheirPlace(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		c.say(0, "SUBSCRIBE a") // the confirmation is being written: nobody reads
		c.say(1, "PUBLISH a one")
		c.hears(1, ":1")
		c.hears(0, "*3 $9 subscribe $1 a :1 *3 $7 message $1 a $3 one")
		c.say(1, "PUBLISH a two ; PUBLISH a three")
		c.hears(1, ":1 :1")
		c.say(0, "UNSUBSCRIBE a")
		c.say(1, "PUBLISH a four")
		c.hears(1, ":1") // what the session has not come to yet is not undone: it still waits for its turn to write
		c.hears(0, "*3 $7 message $1 a $3 two *3 $7 message $1 a $5 three *3 $7 message $1 a $4 four *3 $11 unsubscribe $1 a :0")
		c.say(1, "PUBLISH a five")
		c.hears(1, ":0")
		c.hears(0, "")
	})
}

// Who does not read is cut off, before it has cost too much, and nobody waits for it.
func TestSlowSubscriberIsCutOff(t *testing.T) {
	withCrowd(t, 3, func(c *crowd) {
		c.say(0, "SUBSCRIBE a")
		c.hears(0, "*3 $9 subscribe $1 a :1")
		c.say(1, "SUBSCRIBE a")
		c.hears(1, "*3 $9 subscribe $1 a :1")
		message, begun := strings.Repeat("m", 10000), time.Now()
		for i := range maxUnread/len(message) + 3 {
			c.say(2, "PUBLISH a "+message)
			c.hears(2, map[bool]string{true: ":2", false: ":1"}[i <= maxUnread/len(message)+1])
			c.hears(1, "*3 $7 message $1 a $10000 "+message)
		}
		if since := time.Since(begun); since > time.Second { // of virtual time: what hears waits
			t.Errorf("the publisher waited %v", since)
		}
		if !c.eof(0) {
			t.Error("the slow one is not cut off")
		}
	})
}

// One message that is not read for the write limit is enough.
func TestStuckSubscriberIsCutOff(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		c.say(0, "SUBSCRIBE a")
		c.hears(0, "*3 $9 subscribe $1 a :1")
		c.say(1, "PUBLISH a x")
		c.hears(1, ":1")
		time.Sleep(c.server.Clients.withDefaults().Write + time.Second)
		if !c.eof(0) {
			t.Error("the stuck one is not cut off")
		}
		c.say(1, "PUBLISH a x")
		c.hears(1, ":0")
	})
}

func TestSubscriptionsAreBounded(t *testing.T) {
	withCrowd(t, 1, func(c *crowd) {
		var names []string
		for i := range maxSubscriptions {
			names = append(names, fmt.Sprintf("c%d", i))
		}
		c.say(0, "SUBSCRIBE "+strings.Join(names, " ")+" ; RESET ; HELLO 3 ; SUBSCRIBE "+strings.Join(names, " "))
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		readAvailable(c.conns[0])
		c.say(0, "PSUBSCRIBE more ; SSUBSCRIBE more")
		c.hears(0, "-ERR a connection may have 256 subscriptions -ERR a connection may have 256 subscriptions")
		c.say(0, "UNSUBSCRIBE c0 c1 ; SSUBSCRIBE "+strings.Repeat("x", maxChannel+1)+" ; SSUBSCRIBE "+strings.Repeat("y", maxChannel))
		c.hears(0, ">3 $11 unsubscribe $2 c0 :255 >3 $11 unsubscribe $2 c1 :254 -ERR channel of 513 bytes is longer than 512 "+
			">3 $10 ssubscribe $512 "+strings.Repeat("y", maxChannel)+" :1")
	})
}

// A channel that nobody could have subscribed to is not compared with the patterns either: it could take minutes.
func TestPublishedNamesAreBounded(t *testing.T) {
	withCrowd(t, 1, func(c *crowd) {
		c.say(0, "PUBLISH "+strings.Repeat("x", maxChannel)+" m ; PUBLISH "+strings.Repeat("x", maxChannel+1)+" m ; SPUBLISH "+strings.Repeat("x", maxChannel+1)+" m")
		c.hears(0, ":0 -ERR channel of 513 bytes is longer than 512 -ERR channel of 513 bytes is longer than 512")
	})
}

// Who wants no replies still gets messages, and the confirmations of its subscriptions.
func TestMessagesAreNoReplies(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		c.say(0, "HELLO 3")
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		readAvailable(c.conns[0])
		c.say(0, "CLIENT REPLY OFF ; SUBSCRIBE a ; PUBLISH a one ; PING")
		c.hears(0, ">3 $9 subscribe $1 a :1 >3 $7 message $1 a $3 one")
		c.say(1, "PUBLISH a two")
		c.hears(0, ">3 $7 message $1 a $3 two")
		c.say(0, "UNSUBSCRIBE ; CLIENT REPLY ON ; CLIENT REPLY SKIP ; SUBSCRIBE b ; PING ; CLIENT REPLY SKIP ; PING ; PING")
		c.hears(0, ">3 $11 unsubscribe $1 a :0 +OK >3 $9 subscribe $1 b :1 +PONG +PONG")
	})
}

// HELLO decides what a subscriber may ask for, also in one piece with what it asks.
func TestHelloBeforeWhatASubscriberAsks(t *testing.T) {
	withCrowd(t, 1, func(c *crowd) {
		c.say(0, "HELLO 3 ; SUBSCRIBE a ; GET k ; HELLO 2 ; GET k")
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		got, _ := readAvailable(c.conns[0])
		if strings.Count(got, "-ERR Can't execute 'get'") != 1 || !strings.HasSuffix(got, "allowed in this context\r\n") {
			t.Error(got)
		}
	})
}

// A subscriber may be silent for longer than the idle limit; others may not.
func TestIdleSubscriberStays(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		for _, g := range c.server.guards {
			g.limits.Idle = time.Minute
		}
		c.say(0, "SUBSCRIBE a")
		c.hears(0, "*3 $9 subscribe $1 a :1")
		c.say(1, "PING")
		c.hears(1, "+PONG")
		time.Sleep(2 * time.Minute)
		if !c.eof(1) {
			t.Error("the idle one is still there")
		}
		c.say(0, "PING")
		c.hears(0, "*2 $4 pong $0")
	})
}

// CLIENT LIST and KILL find subscribers.
func TestClientListKnowsSubscribers(t *testing.T) {
	withCrowd(t, 2, func(c *crowd) {
		c.say(0, "SUBSCRIBE a b ; PSUBSCRIBE p ; SSUBSCRIBE s")
		c.conns[0].SetReadDeadline(time.Now().Add(time.Millisecond))
		readAvailable(c.conns[0])
		c.say(1, "CLIENT LIST TYPE pubsub")
		c.conns[1].SetReadDeadline(time.Now().Add(time.Millisecond))
		got, _ := readAvailable(c.conns[1])
		if !strings.Contains(got, " flags=P ") || !strings.Contains(got, " sub=2 psub=1 ssub=1 ") || strings.Count(got, "id=") != 1 {
			t.Errorf("%q", got)
		}
		c.say(1, "CLIENT KILL TYPE pubsub")
		c.hears(1, ":1")
		c.say(1, "CLIENT LIST TYPE pubsub")
		c.hears(1, "$0")
		if !c.eof(0) {
			t.Error("not killed")
		}
	})
}

// Replies and messages share a connection, and each comes whole and in its order.
func TestRepliesAndMessagesAreNotMixedUp(t *testing.T) {
	s := newTestServer(always{quorum.Answer{Vote: quorum.Yes, Number: 1}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	defer func() {
		at, cancel := context.WithCancel(context.Background())
		cancel()
		s.Shutdown(at)
		<-served
	}()
	dial := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		return conn, bufio.NewReader(conn)
	}
	const publishers, each = 3, 300
	conn, in := dial()
	defer conn.Close()
	fmt.Fprintf(conn, "HELLO 3\r\nSUBSCRIBE c\r\nPING begin\r\n")
	for line := ""; line != "begin\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for i := range publishers * each {
			fmt.Fprintf(conn, "PING r-%d\r\n", i)
		}
	}()
	for p := range publishers {
		go func() {
			out, in := dial()
			defer out.Close()
			for i := range each {
				fmt.Fprintf(out, "PUBLISH c m%d-%d\r\n", p, i)
				in.ReadString('\n')
			}
		}()
	}
	next := map[string]int{}
	for seen := 0; seen < 2*publishers*each; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err, next)
		}
		switch line {
		case ">3\r\n":
			var parts []string
			for range 6 {
				part, _ := in.ReadString('\n')
				parts = append(parts, strings.TrimSpace(part))
			}
			if parts[1] != "message" || parts[3] != "c" {
				t.Fatalf("%q", parts)
			}
			line = parts[5]
		default:
			if line[0] != '$' {
				t.Fatalf("%q", line)
			}
			line, _ = in.ReadString('\n')
		}
		who, number, _ := strings.Cut(strings.TrimSpace(line), "-")
		if number != fmt.Sprint(next[who]) {
			t.Fatalf("%s: %s, want %d", who, number, next[who])
		}
		next[who]++
		seen++
	}
}
