package main

// The whole of redlockd, wired as main wires it, over simulated nodes and in virtual time:
// every duration below is exact. The rules that a test checks stand in its name.

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/conf"
	"redlockd/proxy"
	"redlockd/quorum/quorumtest"
)

const ms = time.Millisecond

// world is a fleet of simulated nodes.
type world struct {
	*testing.T
	nodes   []*quorumtest.Node
	started time.Time
}

func virtual(t *testing.T, n int, test func(world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world{T: t, started: time.Now()}
		for range n {
			w.nodes = append(w.nodes, quorumtest.NewNode())
		}
		t.Cleanup(func() { time.Sleep(time.Minute) }) // slow nodes have ended, too
		test(w)
	})
}

// redlockd starts one more redlockd over the fleet.
func (w world) redlockd(flags ...string) *quorumtest.Listener {
	w.Helper()
	ln, _ := w.start(flags...)
	return ln
}

// start one more redlockd. end ends it at once, with nothing told to anybody.
func (w world) start(flags ...string) (ln *quorumtest.Listener, end func()) {
	w.Helper()
	var addresses []string
	byAddress := map[string]*quorumtest.Node{}
	for i, n := range w.nodes {
		a := fmt.Sprintf("node:%d", i+1)
		addresses = append(addresses, a)
		byAddress[a] = n
	}
	config, err := conf.Load(append([]string{"--nodes", strings.Join(addresses, ",")}, flags...), nil)
	if err != nil {
		w.Fatal(err)
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return byAddress[address].Dial(ctx, network, address)
	}
	clock := func() time.Duration { return time.Since(w.started) }
	log := slog.New(slog.DiscardHandler)
	pipes := open(config, dial, clock, log)
	server := proxy.New(options(config, pipes, clock, log))
	ln = quorumtest.NewListener()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	var once sync.Once
	stop := func(within time.Duration) {
		limit, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		server.Shutdown(limit)
		closeAll(limit, pipes)
		if err := <-served; err != nil {
			w.Error(err)
		}
	}
	w.Cleanup(func() {
		for _, n := range w.nodes {
			n.Before(nil)
			n.ReleaseConnections()
			n.Resume()
		}
		once.Do(func() { stop(5 * time.Second) })
		for _, n := range w.nodes {
			n.Cut()
		}
	})
	synctest.Wait() // connected
	return ln, func() { once.Do(func() { stop(0) }) }
}

// client of one redlockd.
type client struct {
	*testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (w world) client(ln *quorumtest.Listener) *client {
	w.Helper()
	c, err := ln.Dial()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { c.Close() })
	return &client{w.T, c, bufio.NewReader(c)}
}

// send a command, its words separated by blanks.
func (c *client) send(command string) {
	c.Helper()
	if _, err := c.conn.Write(wire(command)); err != nil {
		c.Fatal(err)
	}
}

// wire is a command in RESP.
func wire(command string) []byte {
	words := strings.Split(command, " ")
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// receive a reply: a status, error or integer as its line, a bulk as its text, nil as "nil", the nil of an array as "nil array".
func (c *client) receive() string {
	c.Helper()
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.Fatal(err)
	}
	line = strings.TrimRight(line, "\r\n")
	switch line {
	case "$-1", "_":
		return "nil"
	case "*-1":
		return "nil array"
	}
	if line[0] != '$' {
		return line
	}
	n, _ := strconv.Atoi(line[1:])
	text := make([]byte, n+2)
	if _, err := c.in.Read(text[:0]); err != nil {
		c.Fatal(err)
	}
	for i := range text {
		if text[i], err = c.in.ReadByte(); err != nil {
			c.Fatal(err)
		}
	}
	return string(text[:n])
}

func (c *client) do(command string) string {
	c.Helper()
	c.send(command)
	return c.receive()
}

// like compares a reply with what is wanted, in which … stands for anything.
func like(got, want string) bool {
	parts := strings.Split(want, "…")
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	for _, part := range parts {
		i := strings.Index(got, part)
		if i < 0 {
			return false
		}
		got = got[i+len(part):]
	}
	return len(parts) > 1 || got == ""
}

// want checks the reply, and how much time has gone by.
func (c *client) want(command, reply string, took time.Duration) {
	c.Helper()
	began := time.Now()
	got := c.do(command)
	if !like(got, reply) {
		c.Fatalf("%s: %s, want %s", command, got, reply)
	}
	if spent := time.Since(began); spent != took {
		c.Fatalf("%s: took %v, want %v", command, spent, took)
	}
}

const (
	release = "if\tredis.call('get',KEYS[1])==ARGV[1]then\treturn\tredis.call('del',KEYS[1])else\treturn\t0\tend"
	extend  = "if\tredis.call('get',KEYS[1])==ARGV[1]then\treturn\tredis.call('pexpire',KEYS[1],ARGV[2])else\treturn\t0\tend"
)

// holders is on how many nodes key holds token.
func (w world) holders(key, token string) (n int) {
	synctest.Wait()
	for _, node := range w.nodes {
		if v, ok := node.Value(key); ok && v == token {
			n++
		}
	}
	return n
}

func (w world) wantHolders(key, token string, want int) {
	w.Helper()
	if got := w.holders(key, token); got != want {
		w.Fatalf("%s is held by %s on %d nodes, want %d", key, token, got, want)
	}
}
