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
	"strings"
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
	Refused   Work = "refused"   // SET key token NX PX of a key that somebody else holds: each is refused
	Contended Work = "contended" // all clients take one key, again and again, and whoever gets it releases it at once
	Get       Work = "get"       // GET of a held key
	PTTL      Work = "pttl"      // PTTL of a held key
	Idle      Work = "idle"      // one take, then nothing; Wire knows it as Take
)

// Release is the canonical compare-and-delete of the Redis documentation.
const Release = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// TTL is that of every lock taken here, in milliseconds: longer than a row, so that none ends by itself.
const (
	TTL    = "30000"
	ttlMax = 30000
)

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
	want []byte // one answer, as bytes; empty: an integer from 1 to ttlMax
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

// Dial connects one client, loads the script for EVALSHA, and takes the key that a row of held keys needs.
func (w Wire) Dial(client int) (Worker, error) {
	if w.Pipeline < 1 {
		return nil, fmt.Errorf("load: a pipeline of %d", w.Pipeline)
	}
	if w.Work == Contended && w.Pipeline > 1 {
		return nil, errors.New("load: who polls waits for the answer; a contended row has a pipeline of 1")
	}
	batches, held, err := w.batches(client)
	if err != nil {
		return nil, err
	}
	conn, err := net.DialTimeout("tcp", w.Addr, dialLimit)
	if err != nil {
		return nil, err
	}
	c := &wireClient{conn: conn, batches: batches, per: w.Pipeline, in: make([]byte, maxReplies)}
	if w.Work == Cycle || w.Work == Contended {
		err = ask(conn, sha(Release), "SCRIPT", "LOAD", Release)
	}
	if held != nil && err == nil {
		err = ask(conn, "OK", held...)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if w.Work == Contended {
		return &contender{wireClient: c}, nil
	}
	if len(batches) == 1 {
		return pipedClient{c}, nil
	}
	return c, nil
}

// batches encodes what this client will send, with a counter of zeros in every key and token, and the take of the key
// that must be held before, nil if none.
func (w Wire) batches(client int) (loop []batch, held []string, err error) {
	zeros := fmt.Sprintf("%0*d", digits, 0)
	key := fmt.Sprintf("%s:%04d:%s", w.Keys, client, zeros)
	token := fmt.Sprintf("token:%04d:%s", client, zeros)
	mine := fmt.Sprintf("%s:%04d", w.Keys, client) // one key for all of the row
	held = []string{"SET", mine, "holder", "NX", "PX", TTL}
	take := w.repeat("+OK\r\n", zeros, "SET", key, token, "NX", "PX", TTL)
	switch w.Work {
	case Ping:
		return []batch{w.repeat("+PONG\r\n", "", "PING")}, nil, nil
	case Take:
		return []batch{take}, nil, nil
	case Cycle:
		return []batch{take, w.repeat(":1\r\n", zeros, "EVALSHA", sha(Release), "1", key, token)}, nil, nil
	case CycleEval:
		return []batch{take, w.repeat(":1\r\n", zeros, "EVAL", Release, "1", key, token)}, nil, nil
	case Refused:
		return []batch{w.repeat("$-1\r\n", zeros, "SET", mine, token, "NX", "PX", TTL)}, held, nil
	case Contended:
		return []batch{
			w.repeat("+OK\r\n", zeros, "SET", w.Keys, token, "NX", "PX", TTL),
			w.repeat(":1\r\n", zeros, "EVALSHA", sha(Release), "1", w.Keys, token),
		}, nil, nil
	case Get:
		return []batch{w.repeat("$6\r\nholder\r\n", "", "GET", mine)}, held, nil
	case PTTL:
		return []batch{w.repeat("", "", "PTTL", mine)}, held, nil
	}
	return nil, nil, fmt.Errorf("load: unknown work %q", w.Work)
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

// ask sends one command before the row begins, and wants this answer.
func ask(conn net.Conn, want string, args ...string) error {
	if err := conn.SetDeadline(time.Now().Add(dialLimit)); err != nil {
		return err
	}
	if _, err := conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return err
	}
	reply, err := resp.Read(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	if reply.Text != want {
		return fmt.Errorf("%s was answered %s", strings.Join(args[:2], " "), reply)
	}
	return conn.SetDeadline(time.Time{})
}

// Step implements Worker. An operation is good when all its answers were: of a cycle with a refused take and a release
// that found nothing, two answers are bad and no operation is good.
func (c *wireClient) Step() (good, bad int, err error) {
	for i := range c.batches {
		if err := c.send(&c.batches[i]); err != nil {
			return 0, bad, err
		}
		wrong, err := c.answers(&c.batches[i])
		bad += wrong
		if err != nil {
			return 0, bad, err
		}
	}
	c.next += uint64(c.per)
	return max(0, c.per-bad), bad, nil
}

// send writes a batch with the counters of now.
func (c *wireClient) send(b *batch) error {
	b.number(c.next, c.per)
	_, err := c.conn.Write(b.out)
	return err
}

// pipedClient is one whose batches do not wait for each other. Send and Receive share nothing but the connection.
type pipedClient struct{ *wireClient }

var _ Piped = pipedClient{}

// Send implements Piped.
func (c pipedClient) Send() error {
	err := c.send(&c.batches[0])
	c.next += uint64(c.per)
	return err
}

// Receive implements Piped.
func (c pipedClient) Receive() (good, bad int, err error) {
	bad, err = c.answers(&c.batches[0])
	return c.per - bad, bad, err
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
func (c *wireClient) answers(b *batch) (wrong int, err error) {
	for range c.per {
		right, err := c.answer(b.want)
		if err != nil {
			return wrong, err
		}
		if right {
			continue
		}
		wrong++
		if err := c.note(b.want); err != nil {
			return wrong, err
		}
	}
	return wrong, nil
}

// answer looks at the next answer, and takes it if it is as wanted.
func (c *wireClient) answer(want []byte) (right bool, err error) {
	if len(want) == 0 {
		return c.integer()
	}
	for c.w-c.r < len(want) && bytes.HasPrefix(want, c.in[c.r:c.w]) {
		if err := c.fill(); err != nil {
			return false, err
		}
	}
	right = bytes.HasPrefix(c.in[c.r:c.w], want)
	if right {
		c.r += len(want)
	}
	return right, nil
}

// integer is answer for an integer from 1 to ttlMax.
func (c *wireClient) integer() (right bool, err error) {
	const longest = len(":30000\r\n")
	for {
		line := c.in[c.r:c.w]
		if end := bytes.Index(line, []byte("\r\n")); end > 1 && line[0] == ':' {
			n := 0
			for _, d := range line[1:min(end, longest)] {
				if d < '0' || d > '9' {
					return false, nil
				}
				n = 10*n + int(d-'0')
			}
			if right = n >= 1 && n <= ttlMax && end+2 <= longest; right {
				c.r += end + 2
			}
			return right, nil
		}
		if len(line) >= longest || len(line) > 0 && line[0] != ':' {
			return false, nil
		}
		if err := c.fill(); err != nil {
			return false, err
		}
	}
}

// note keeps the first wrong answer.
func (c *wireClient) note(want []byte) error {
	reply, err := c.other()
	if err == nil && c.wrong == "" {
		if len(want) == 0 {
			want = fmt.Appendf(nil, "an integer from 1 to %d", ttlMax)
		}
		c.wrong = fmt.Sprintf("got %s, want %s", reply, bytes.ReplaceAll(bytes.TrimSpace(want), []byte("\r\n"), []byte(" ")))
	}
	return err
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
