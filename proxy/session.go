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
	*batch     // nil while there is none
	db     int // SELECT
	mute   int // CLIENT REPLY: how many replies are still to be left out; negative: all
	muted  int // where in reply.out begins what is left out then
	subs   subscriptions

	// grants whose replies are not written yet.
	grants []*quorum.Ticket
	// grant is the last reply's, as long as it may turn out that the client was not told of it.
	grant       *quorum.Ticket
	slow        func() // of commands.Command
	quit        bool
	transaction transaction

	mu    sync.Mutex // guards about, which CLIENT LIST of others reads
	about about
}

// heardOf the client again: it has not gone before it was told of the last grant.
func (c *session) heardOf() {
	if c.grant != nil {
		c.grant.Free()
		c.grant = nil
	}
}

func newSession(s *Server, conn redcon.Conn) *session {
	c := &session{server: s, conn: conn, id: s.nextID.Add(1), begun: time.Now(), reply: reply{proto: 2}, about: about{proto: 2, queued: -1}}
	c.guard = conn.NetConn().(*guardedConn) // Serve puts the guard under redcon
	c.guard.onWrite = c.written
	c.guard.onGone = c.gone
	c.slow = c.beforeLong
	return c
}

// maxReplies is how many bytes of replies are kept back until the batch is complete.
const maxReplies = 64 << 10

// serve starts the rounds of the whole batch, waits for all of them, and answers in order.
func (c *session) serve(first redcon.Command, rest []redcon.Command) {
	c.server.batches.Add(1)
	c.server.commands.Add(uint64(1 + len(rest)))
	c.note(first)

	c.heardOf()
	c.open()
	c.left = len(rest)
	c.begin(first)
	for _, cmd := range rest {
		c.left--
		c.begin(cmd)
	}
	c.settle()
	c.close()
	if c.quit {
		c.conn.Close()
	}
}

// settle waits for what was begun, and answers it. Redcon would write the replies behind the last command
// of the batch; but a grant must not wait for rounds that have not even been sent.
func (c *session) settle() {
	c.unreserve()
	if n := len(c.steps); n > 1 && c.steps[n-1].ticket != nil {
		c.steps[n-1].ticket.Await()
	}
	for i := range c.steps {
		if s := &c.steps[i]; s.ticket != nil {
			s.ticket.Wait(i == len(c.steps)-1)
			c.goOn(s)
			c.lookAgain(s)
		}
	}
	// T2, just before the replies are written (R14).
	now := c.server.Fleet.Now()
	for i := range c.steps {
		c.finish(&c.steps[i], now)
		if len(c.reply.out) > maxReplies {
			c.write()
			now = c.server.Fleet.Now()
		}
	}
	c.write()
	c.subs.release()
	clear(c.steps)
	c.steps = c.steps[:0]
	c.began = 0
}

func (c *session) write() {
	if len(c.reply.out) == 0 {
		return
	}
	c.guard.awaitDelivery = c.grant != nil
	if _, err := c.guard.Write(c.reply.out); err != nil { // written knows it too
		c.quit = true
	}
	c.reply.out = c.reply.out[:0]
}

// begin parses a command, and starts its round if it is about locks.
func (c *session) begin(cmd redcon.Command) {
	if c.quit {
		return
	}
	s := &c.next
	*s = step{}
	s.command.Slow = c.slow
	if s.err = s.command.Parse(cmd.Args, c.server.Scripts); s.err == nil {
		s.err = c.mayAsk(&s.command)
	}
	alone := s.err == nil && c.alone(s.command.Verb)
	if alone {
		c.settle()
		c.subs.hold()
	}
	switch {
	case c.transact(s):
	case s.command.Verb.OfLocks():
		s.ticket, s.err = c.start(&s.command)
	case s.command.Verb == commands.ScriptAdmin:
		s.done = c.scriptAdmin(&s.command) // at once: a command behind it may need the script
	case s.command.Verb == commands.Redlock:
		s.done = c.redlock(&s.command)
	case s.command.Verb == commands.Select:
		s.err = c.selectDB(s.command.Args[1])
	case s.command.Verb == commands.Reset:
		c.db, c.transaction = 0, transaction{}
	case s.command.Verb == commands.Quit:
		c.quit = true
	}
	c.steps = append(c.steps, *s)
	if alone {
		c.settle()
	}
}

// finish writes the reply of a step to the batch's.
func (c *session) finish(s *step, now time.Duration) {
	c.grant = nil
	c.unmuted()
	defer c.hush()
	switch {
	case s.err != nil:
		c.reply.error(s.err.Error())
	case s.ticket != nil:
		ruling, err := s.ticket.Confirm(now)
		if ruling.Verdict == quorum.Granted && s.command.Verb == commands.Take {
			c.grants = append(c.grants, s.ticket)
			c.grant = s.ticket
		} else {
			s.ticket.Free()
		}
		s.ticket = nil // answered; from here on only grants tells what may be given back
		if err != nil {
			c.server.Log.Debug("no quorum", "command", s.command.Name, "err", err)
		}
		c.decided(s, ruling, err)
	case s.done != nil:
		s.done(&c.reply)
	case s.transaction != nil:
		c.executed(s.transaction, quorum.Ruling{}, func() { c.home(&s.command) })
	default:
		c.home(&s.command)
	}
}

// unmuted: what stands in the batch's replies so far is written even if the client wants no replies. Messages and the
// confirmations of subscriptions are none.
func (c *session) unmuted() { c.muted = len(c.reply.out) }

// hush takes back a reply if the client wants none.
func (c *session) hush() {
	if c.mute == 0 {
		return
	}
	c.reply.out = c.reply.out[:c.muted]
	c.grant = nil
	c.mute = max(c.mute-1, -1)
}

// decided writes the reply of a lock command.
func (c *session) decided(s *step, ruling quorum.Ruling, err *quorum.NoQuorum) {
	var held []quorum.Held
	if s.look != nil && err == nil {
		var looked quorum.Ruling
		if looked, err = s.look.Confirm(c.server.Fleet.Now()); err != nil {
			ruling.Verdict = quorum.Undecided
		}
		held = looked.Seen
		s.look.Free()
	}
	if ruling.Verdict == quorum.Granted {
		for _, m := range s.command.Publish {
			c.server.hub.publish(channelTopic, m.Channel, m.Text)
		}
	}
	switch {
	case s.command.Verb == commands.Watch:
		c.watchSettled(&s.command, ruling, err)
	case s.transaction != nil:
		c.executed(s.transaction, ruling, func() { answer(&c.reply, &s.command, ruling, held, err) })
	default:
		answer(&c.reply, &s.command, ruling, held, err)
	}
}

// written: replies were taken by the system, or could not be.
func (c *session) written(err error) {
	var partial *partialWriteError
	if err != nil && !errors.As(err, &partial) {
		for _, t := range c.grants {
			t.GiveBack()
		}
	}
	// Which of the replies arrived, should it turn out that not all did, is not known but of the last. A
	// lock that somebody may rely on is not taken back: it is left to its ttl (R8).
	for _, t := range c.grants {
		if t != c.grant && err == nil {
			t.Free()
		}
	}
	clear(c.grants)
	c.grants = c.grants[:0]
	if err != nil {
		c.gone()
	}
}

// gone: the last reply did not reach the client, which had closed the connection before.
func (c *session) gone() {
	if c.grant != nil {
		c.grant.GiveBack()
		c.grant = nil
	}
}

// abandon takes back whatever the batch that a panic has ended was granted, or will be, and was not told.
func (c *session) abandon() {
	if c.batch != nil {
		c.unreserve()
		for i := range c.steps {
			if t := c.steps[i].ticket; t != nil {
				t.GiveBack()
			}
		}
		c.batch = nil
	}
	c.server.Fleet.Flush()
	c.subs.release()
	for _, t := range c.grants {
		t.GiveBack()
	}
}
