package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlockd/bench/resp"
)

const (
	replyLimit = 10 * time.Second // for one reply
	awaitLimit = 60 * time.Second // for what is awaited; the counter's last worker waits for all others
	pause      = 10 * time.Millisecond
	inside     = 2 * time.Millisecond // between the counter's read and its write
	workers    = 20
	increments = 3
)

// play plays one check.
func (c *conversation) play(check, address string) error {
	key := c.file + ":" + check + ":" + secret()
	if check != "counter" {
		p := c.player(address, key)
		defer p.close()
		if err := p.steps(c.checks[check]); err != nil {
			return err
		}
		return p.nothingLeft()
	}
	return c.count(c.checks[check], address, key)
}

// count plays the counter's steps in many workers. The first that fails ends all of them.
func (c *conversation) count(steps []step, address, key string) error {
	var count atomic.Int64 // atomic for the race detector; an increment is still a read, a pause and a write
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			p := c.player(address, key)
			defer p.close()
			p.ctx = ctx
			p.increment = func() {
				seen := count.Load()
				time.Sleep(inside)
				count.Store(seen + 1)
			}
			for n := 0; n < increments && ctx.Err() == nil; n++ {
				if err := p.steps(steps); err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if n := count.Load(); n != workers*increments {
		return fmt.Errorf("%d of %d increments", n, workers*increments)
	}
	return nil
}

// player plays steps over connections of its own.
type player struct {
	c         *conversation
	address   string
	began     time.Time
	key       string
	tokens    map[string]string
	conns     map[string]*connection
	increment func()
	ctx       context.Context // its end is the end of waiting
}

type connection struct {
	net.Conn
	in         *bufio.Reader
	subscribed bool
}

func (c *conversation) player(address, key string) *player {
	return &player{
		c: c, address: address, began: time.Now(), key: key,
		tokens: make(map[string]string), conns: make(map[string]*connection), increment: func() {},
		ctx: context.Background(),
	}
}

func (p *player) close() {
	for _, conn := range p.conns {
		conn.Close()
	}
}

// nothingLeft finds replies that nobody has read.
func (p *player) nothingLeft() error {
	for name, conn := range p.conns {
		if conn.subscribed {
			continue // it cannot ask any more
		}
		if err := p.exchange(conn, step{conn: name, send: [][]string{{"ECHO", "the end"}}, read: []string{`"the end"`}}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) steps(steps []step) error {
	for _, s := range steps {
		if s.increment {
			p.increment()
			continue
		}
		conn, err := p.connection(s.conn)
		if err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
		if s.await {
			err = p.await(conn, s)
		} else {
			err = p.exchange(conn, s)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	return nil
}

// connection opens it when it is first used.
func (p *player) connection(name string) (*connection, error) {
	if conn := p.conns[name]; conn != nil {
		return conn, nil
	}
	raw, err := net.DialTimeout("tcp", p.address, replyLimit)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: raw, in: bufio.NewReader(raw)}
	p.conns[name] = conn
	steps, own := p.c.connect[name]
	if !own {
		steps = p.c.connect[""]
	}
	for _, s := range steps {
		if err := p.exchange(conn, s); err != nil {
			return nil, fmt.Errorf("connecting, line %d: %w", s.line, err)
		}
	}
	return conn, nil
}

func (p *player) exchange(conn *connection, s step) error {
	replies, err := p.ask(conn, s)
	if err != nil {
		return err
	}
	return p.compare(s, s.read, replies)
}

// await repeats the exchange until it answers that the lock is free.
func (p *player) await(conn *connection, s step) error {
	notBefore := p.began.Add(time.Duration(s.notBefore) * time.Millisecond)
	for end := time.Now().Add(awaitLimit); time.Now().Before(end) && p.ctx.Err() == nil; time.Sleep(pause) {
		replies, err := p.ask(conn, s)
		if err != nil {
			return err
		}
		if p.compare(s, s.free, replies) == nil {
			if time.Now().Before(notBefore) {
				return errors.New("it was free before its ttl was over")
			}
			return nil
		}
		if err := p.compare(s, s.read, replies); err != nil {
			return err
		}
	}
	if err := p.ctx.Err(); err != nil {
		return err // another worker has said why
	}
	return fmt.Errorf("%s: waited %v in vain", s.send[0][0], awaitLimit)
}

// ask sends in one write, and reads as many replies as are expected.
func (p *player) ask(conn *connection, s step) ([]string, error) {
	var out []byte
	for _, command := range s.send {
		args := make([]string, len(command))
		for i, word := range command {
			args[i] = p.fill(word)
		}
		conn.subscribed = conn.subscribed || args[0] == "SUBSCRIBE"
		out = resp.AppendCommand(out, args...)
	}
	if err := conn.SetDeadline(time.Now().Add(replyLimit)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(out); err != nil {
		return nil, err
	}
	replies := make([]string, len(s.read))
	for i := range replies {
		var err error
		if replies[i], err = read(conn.in); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name(i), err)
		}
	}
	return replies, nil
}

func (p *player) compare(s step, patterns, replies []string) error {
	for i, pattern := range patterns {
		if want := p.fill(pattern); !match(want, replies[i]) {
			return fmt.Errorf("%s answers %s, not %s", s.name(i), replies[i], want)
		}
	}
	return nil
}

// name is of the command that reply i belongs to.
func (s step) name(i int) string { return s.send[min(i, len(s.send)-1)][0] }

var variable = regexp.MustCompile(`\$(key|at[+-]\d+|t\w|lua\.\w+|sha\.\w+)`)

// fill puts the values of variables in their places.
func (p *player) fill(word string) string {
	return variable.ReplaceAllStringFunc(word, func(name string) string {
		kind, script, _ := strings.Cut(name[1:], ".")
		switch {
		case kind == "key":
			return p.key
		case kind == "lua":
			return p.c.scripts[script]
		case kind == "sha":
			sum := sha1.Sum([]byte(p.c.scripts[script]))
			return hex.EncodeToString(sum[:])
		case strings.HasPrefix(kind, "at"):
			return strconv.FormatInt(p.began.Unix()+number(strings.TrimPrefix(kind[2:], "+")), 10)
		}
		if p.tokens[kind] == "" {
			p.tokens[kind] = secret()
		}
		return p.tokens[kind]
	})
}

func secret() string { return strings.ToLower(rand.Text()) }
