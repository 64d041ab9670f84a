package load

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"redlockd/bench/resp"
)

// Work is what a client does over and over.
type Work string

// The kinds of work. A batch of a cycle is P takes, then, when all are answered, P releases; each cycle counts as one operation.
const (
	Ping      Work = "ping"      // PING: the floor of any front
	Take      Work = "take"      // SET key token NX PX, a new key each time, so that each is granted
	Cycle     Work = "cycle"     // the same, then its release by EVALSHA: what client libraries do
	CycleEval Work = "cycleeval" // the same with the script's text every time: what applications without a library do
)

// Release is the canonical compare-and-delete of the Redis documentation.
const Release = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// TTL is that of every lock taken here, in milliseconds: longer than a row, so that none ends by itself.
const TTL = "30000"

const (
	dialLimit  = 5 * time.Second
	digits     = 10       // of the counter in key and token: more than a row can use up
	maxReplies = 64 << 10 // bytes we read at once
)

// Wire is a client that speaks RESP over a bare socket. It is made to cost little, so that on a small machine the
// servers are measured and not the generator: commands are encoded once and only the counters in them are overwritten, replies are
// compared as bytes, and a step allocates nothing.
type Wire struct {
	Addr     string
	Work     Work
	Pipeline int
	Keys     string // prefix of the keys; no two runs against one fleet may share it
}

// batch is P commands in one buffer, the answer each must get, and where in the buffer the counters stand.
type batch struct {
	out  []byte
	want []byte // one answer, as bytes
	keys []int  // offsets of the counters, the same number for every command
}

type wireClient struct {
	conn    net.Conn
	batches []batch // one, or two for a cycle
	per     int     // commands in a batch
	next    uint64  // counter of the next key
	in      []byte  // buf[r:w] is read but not yet looked at
	r, w    int
	wrong   string
}

// Dial connects one client and, for EVALSHA, loads the script.
func (w Wire) Dial(client int) (Worker, error) {
	if w.Pipeline < 1 {
		return nil, fmt.Errorf("load: a pipeline of %d", w.Pipeline)
	}
	conn, err := net.DialTimeout("tcp", w.Addr, dialLimit)
	if err != nil {
		return nil, err
	}
	c := &wireClient{conn: conn, per: w.Pipeline, in: make([]byte, maxReplies)}
	if c.batches, err = w.batches(client); err == nil && w.Work == Cycle {
		err = loadScript(conn)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// batches encodes what this client will send, with a counter of zeros in every key and token.
func (w Wire) batches(client int) ([]batch, error) {
	zeros := fmt.Sprintf("%0*d", digits, 0)
	key := fmt.Sprintf("%s:%04d:%s", w.Keys, client, zeros)
	token := fmt.Sprintf("token:%04d:%s", client, zeros)
	take := w.repeat("+OK\r\n", zeros, "SET", key, token, "NX", "PX", TTL)
	switch w.Work {
	case Ping:
		return []batch{w.repeat("+PONG\r\n", "", "PING")}, nil
	case Take:
		return []batch{take}, nil
	case Cycle:
		return []batch{take, w.repeat(":1\r\n", zeros, "EVALSHA", sha(Release), "1", key, token)}, nil
	case CycleEval:
		return []batch{take, w.repeat(":1\r\n", zeros, "EVAL", Release, "1", key, token)}, nil
	}
	return nil, fmt.Errorf("load: unknown work %q", w.Work)
}

// repeat encodes a command P times and notes where its counters are. A counter is what ends with the zeros.
func (w Wire) repeat(want, zeros string, args ...string) batch {
	b := batch{want: []byte(want)}
	for range w.Pipeline {
		start := len(b.out)
		b.out = resp.AppendCommand(b.out, args...)
		for i := start; zeros != ""; i++ {
			at := bytes.Index(b.out[i:], []byte(zeros+"\r\n"))
			if at < 0 {
				break
			}
			i += at
			b.keys = append(b.keys, i)
		}
	}
	return b
}

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

func loadScript(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(dialLimit)); err != nil {
		return err
	}
	if _, err := conn.Write(resp.AppendCommand(nil, "SCRIPT", "LOAD", Release)); err != nil {
		return err
	}
	reply, err := resp.Read(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	if reply.Text != sha(Release) {
		return fmt.Errorf("SCRIPT LOAD was answered %s", reply)
	}
	return conn.SetDeadline(time.Time{})
}

// Step implements Worker. An operation is good when all its answers were: of a cycle with a refused take and a release
// that found nothing, two answers are bad and no operation is good.
func (c *wireClient) Step() (good, bad int, err error) {
	for i := range c.batches {
		b := &c.batches[i]
		b.number(c.next, c.per)
		if _, err := c.conn.Write(b.out); err != nil {
			return 0, bad, err
		}
		wrong, err := c.answers(b.want)
		bad += wrong
		if err != nil {
			return 0, bad, err
		}
	}
	c.next += uint64(c.per)
	return max(0, c.per-bad), bad, nil
}

// number writes the counters first, first+1, … into the commands of a batch.
func (b *batch) number(first uint64, commands int) {
	per := len(b.keys) / commands
	for i, at := range b.keys {
		v := first + uint64(i/max(per, 1))
		for d := at + digits - 1; d >= at; d-- {
			b.out[d] = byte('0' + v%10)
			v /= 10
		}
	}
}

// answers reads one answer per command of the batch and counts those that are not as wanted.
func (c *wireClient) answers(want []byte) (wrong int, err error) {
	for range c.per {
		for c.w-c.r < len(want) && bytes.HasPrefix(want, c.in[c.r:c.w]) {
			if err := c.fill(); err != nil {
				return wrong, err
			}
		}
		if bytes.HasPrefix(c.in[c.r:c.w], want) {
			c.r += len(want)
			continue
		}
		wrong++
		reply, err := c.other()
		if err != nil {
			return wrong, err
		}
		if c.wrong == "" {
			c.wrong = fmt.Sprintf("got %s, want %s", reply, bytes.TrimSpace(want))
		}
	}
	return wrong, nil
}

// fill reads more bytes. What is unread is moved to the front only when there is no room behind it.
func (c *wireClient) fill() error {
	if c.r == c.w {
		c.r, c.w = 0, 0
	} else if c.w == len(c.in) {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	n, err := c.conn.Read(c.in[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection")
	}
	return err
}

// other reads an answer that is not the wanted one. Slow, and that is no matter: such a row has failed.
func (c *wireClient) other() (resp.Reply, error) {
	from := io.MultiReader(bytes.NewReader(bytes.Clone(c.in[c.r:c.w])), c.conn)
	buffered := bufio.NewReaderSize(from, maxReplies)
	reply, err := resp.Read(buffered)
	if err != nil {
		return reply, err
	}
	// What the reader took beyond this reply goes back to our buffer; it holds at most as much as ours has room for.
	rest, err := buffered.Peek(buffered.Buffered())
	c.r, c.w = 0, copy(c.in, rest)
	return reply, err
}

// Wrong implements Worker.
func (c *wireClient) Wrong() string { return c.wrong }

// Close implements Worker.
func (c *wireClient) Close() error { return c.conn.Close() }
