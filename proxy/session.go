package proxy

import (
	"errors"
	"sync"
	"time"

	"github.com/tidwall/redcon"

	"redlockd/commands"
	"redlockd/quorum"
)

// session is one client's connection. Everything but about is for redcon's goroutine of
// that connection.
type session struct {
	server *Server
	conn   redcon.Conn
	guard  *guardedConn
	id     int64
	begun  time.Time
	reply  reply
	steps  []step

	// grants of the latest batch, as long as it may turn out that the client was not told of them.
	grants  []*quorum.Ticket
	replies int // of the latest batch
	quit    bool
	// multi: within this batch a MULTI was refused, and no EXEC or DISCARD has come yet.
	multi bool

	mu    sync.Mutex // guards about, which CLIENT LIST of others reads
	about about
}

// step is one command of a batch.
type step struct {
	command commands.Command
	ticket  *quorum.Ticket // of a lock command
	err     error          // to be answered in its place
	done    func(*reply)   // already carried out; writes the reply
}

func newSession(s *Server, conn redcon.Conn) *session {
	c := &session{server: s, conn: conn, id: s.nextID.Add(1), begun: time.Now(), reply: reply{proto: 2}}
	c.guard, _ = conn.NetConn().(*guardedConn)
	if c.guard != nil {
		c.guard.onWrite = c.written
		c.guard.onGone = c.gone
	}
	return c
}

// maxIdleReply is what a connection may keep of a large batch of replies.
const maxIdleReply = 16 << 10

// serve starts the rounds of the whole batch, waits for all of them, and answers in order.
func (c *session) serve(first redcon.Command, rest []redcon.Command) {
	c.server.batches.Add(1)
	c.server.commands.Add(uint64(1 + len(rest)))
	c.note(first)
	c.forget()
	c.multi = false

	// T1, before the first byte is sent to a node (R10).
	began := c.server.Fleet.Now()
	c.begin(first, began)
	for _, cmd := range rest {
		c.begin(cmd, began)
	}
	for i := range c.steps {
		if t := c.steps[i].ticket; t != nil {
			t.Wait()
		}
	}
	// T2, just before the replies are written (R14).
	now := c.server.Fleet.Now()
	for i := range c.steps {
		c.finish(&c.steps[i], now)
	}
	c.replies = len(c.steps)
	clear(c.steps)
	c.steps = c.steps[:0]

	if c.guard != nil {
		c.guard.awaitDelivery = len(c.grants) > 0
	}
	c.conn.WriteRaw(c.reply.out)
	if cap(c.reply.out) > maxIdleReply {
		c.reply.out = nil
	}
	c.reply.out = c.reply.out[:0]
	if c.quit {
		c.conn.Close() // redcon flushes first
	}
}

// begin parses a command, and starts its round if it is about locks.
func (c *session) begin(cmd redcon.Command, now time.Duration) {
	if c.quit {
		return
	}
	var s step
	s.command, s.err = commands.Parse(cmd.Args, c.server.Scripts)
	switch {
	case s.err != nil:
	case s.command.Verb == commands.Transaction:
		s.err = c.transaction(s.command.Name)
	case c.multi:
		s.err = errTransaction
	case s.command.Verb <= commands.DBSize:
		s.ticket, s.err = c.start(&s.command, now)
	case s.command.Verb == commands.ScriptAdmin:
		s.done = c.scriptAdmin(&s.command) // at once: a command behind it may need the script
	case s.command.Verb == commands.Quit:
		c.quit = true
	}
	c.steps = append(c.steps, s)
}

var errTransaction = commands.Unsupported("transactions")

// transaction refuses MULTI and its kin. A client that has pipelined a whole transaction behind it would have the
// commands of it carried out one by one: they are refused as well.
func (c *session) transaction(name string) error {
	began := c.multi
	c.multi = name == "multi" || began && name != "exec" && name != "discard"
	if began && name == "exec" {
		return commands.Error("EXECABORT Transaction discarded because redlockd does not support transactions")
	}
	return errTransaction
}

func (c *session) start(cmd *commands.Command, now time.Duration) (*quorum.Ticket, error) {
	req, clamped, err := c.server.Locks.request(cmd, time.Now())
	if err != nil {
		return nil, err
	}
	if clamped {
		c.server.noteClamped(cmd)
	}
	return c.server.Fleet.Start(req, now), nil
}

// finish writes the reply of a step to the batch's.
func (c *session) finish(s *step, now time.Duration) {
	switch {
	case s.err != nil:
		c.reply.error(s.err.Error())
	case s.ticket != nil:
		ruling, err := s.ticket.Confirm(now)
		if ruling.Verdict == quorum.Granted && s.command.Verb == commands.Take {
			c.grants = append(c.grants, s.ticket)
		}
		if err != nil {
			c.server.Log.Debug("no quorum", "command", s.command.Name, "err", err)
		}
		answer(&c.reply, &s.command, ruling, err)
	case s.done != nil:
		s.done(&c.reply)
	default:
		c.home(&s.command)
	}
}

// written: the batch's replies were taken by the system, or could not be.
func (c *session) written(err error) {
	var partial *partialWriteError
	switch {
	case err != nil && !errors.As(err, &partial):
		c.giveBack()
	case err != nil || c.replies > 1:
		// Which of the replies arrived, should it turn out that not all did, is not known. A lock
		// that somebody may rely on is not taken back: it is left to its ttl (R8).
		c.forget()
	}
}

// gone: the client had closed the connection before the latest batch's reply reached it.
func (c *session) gone() { c.giveBack() }

// giveBack takes back the grants whose client was not told of them.
func (c *session) giveBack() {
	for _, t := range c.grants {
		t.GiveBack()
	}
	c.forget()
}

func (c *session) forget() {
	clear(c.grants)
	c.grants = c.grants[:0]
}

// abandon takes back whatever the batch that a panic has ended was granted, or will be.
func (c *session) abandon() {
	for i := range c.steps {
		if t := c.steps[i].ticket; t != nil {
			t.GiveBack()
		}
	}
	c.steps = nil
	c.giveBack()
}
