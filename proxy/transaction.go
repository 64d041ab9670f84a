package proxy

import (
	"bytes"
	"fmt"

	"redlockd/commands"
	"redlockd/quorum"
)

// transaction is what a connection has watched, and what it has queued since MULTI.
type transaction struct {
	watched []commands.Watched
	unseen  error // why what a WATCH asked for could not be read
	asked   int   // keys of WATCHes that are not settled yet
	multi   bool
	queued  []commands.Command
	failed  bool // a command was refused instead of being queued
}

// transact carries out what a transaction is made of, up to EXEC, and queues what stands between MULTI and EXEC. It returns
// false for a command that is neither.
func (c *session) transact(s *step) bool {
	verb, t := s.command.Verb, &c.transaction
	switch {
	case s.err != nil && s.err == commands.WrongArity("exec"): // as Redis: it ends the transaction, if there is one
		c.settleWatch() // what is still being read would be watched by the next one
		c.transaction = transaction{}
		s.err = commands.ErrExecArity
		return true
	case s.err != nil:
		t.failed = t.failed || t.multi
		return true
	case verb == commands.Watch:
		s.ticket, s.err = c.watch(&s.command)
	case verb == commands.Unwatch && !t.multi:
		c.unwatch()
		s.done = ok
	case verb == commands.Multi && t.multi:
		s.err = commands.ErrNested
	case verb == commands.Multi:
		t.multi = true
		s.done = ok
	case verb == commands.Discard && !t.multi:
		s.err = commands.ErrNoMultiDiscard
	case verb == commands.Discard:
		c.unwatch()
		c.transaction = transaction{}
		s.done = ok
	case verb == commands.Exec && !t.multi:
		s.err = commands.ErrNoMulti
	case verb == commands.Exec:
		c.exec(s)
	case t.multi && verb != commands.Quit && verb != commands.Reset:
		c.queue(s)
	default:
		return false
	}
	return true
}

func ok(r *reply) { r.status("OK") }

func (c *session) queue(s *step) {
	t := &c.transaction
	if len(t.queued) == commands.MaxQueued {
		t.failed = true
		s.err = commands.Error(fmt.Sprintf("ERR more than %d commands in a transaction", commands.MaxQueued))
		return
	}
	if len(t.queued) >= commands.MaxCarriedOut {
		s.command = commands.Command{} // only counted: a client must not fill our memory with what is never carried out
	}
	t.queued = append(t.queued, s.command)
	s.done = func(r *reply) { r.status("QUEUED") }
}

// watch starts to read what the keys hold: that becomes the compare of EXEC.
func (c *session) watch(cmd *commands.Command) (*quorum.Ticket, error) {
	t := &c.transaction
	switch {
	case t.multi:
		return nil, commands.ErrWatch
	case len(t.watched)+t.asked+len(cmd.Keys) > commands.MaxWatched:
		return nil, commands.Error(fmt.Sprintf("ERR more than %d keys are watched", commands.MaxWatched))
	}
	cmd.DB = c.db
	ticket, err := c.start(&commands.Command{Verb: commands.Inspect, Name: cmd.Name, DB: cmd.DB, Keys: cmd.Keys})
	if err != nil {
		t.unseen = err // the client is told, but may have sent EXEC already
		return nil, err
	}
	t.asked += len(cmd.Keys)
	return ticket, nil
}

// watchSettled notes what a WATCH has read. Of a key that is watched already, what was read first counts.
func (c *session) watchSettled(cmd *commands.Command, ruling quorum.Ruling, err *quorum.NoQuorum) {
	t := &c.transaction
	t.asked -= len(cmd.Keys)
	if err != nil {
		t.unseen = err
		c.reply.error(err.Error())
		return
	}
	for i, s := range seen(ruling.Seen) {
		if !t.watches(cmd.DB, cmd.Keys[i]) {
			t.watched = append(t.watched, commands.Watched{DB: cmd.DB, Key: cmd.Keys[i], Seen: s})
		}
	}
	c.reply.status("OK")
}

func (t *transaction) watches(db int, key []byte) bool {
	for _, w := range t.watched {
		if w.DB == db && bytes.Equal(w.Key, key) {
			return true
		}
	}
	return false
}

// unwatch forgets what was watched, what is still being read included.
func (c *session) unwatch() {
	c.settleWatch()
	c.transaction.watched, c.transaction.unseen = nil, nil
}

// settleWatch waits for what a WATCH of this batch reads.
func (c *session) settleWatch() {
	if c.transaction.asked > 0 {
		c.settle()
	}
}

// exec starts the one command that the transaction amounts to.
func (c *session) exec(s *step) {
	c.settleWatch()
	t := c.transaction
	c.transaction = transaction{}
	switch {
	case t.failed:
		s.err = commands.ErrAborted
		return
	case t.unseen != nil:
		s.err = t.unseen
		return
	}
	whole, err := commands.Atomic(t.watched, c.db, t.queued)
	if err != nil {
		s.err = err
		return
	}
	s.command, s.transaction = whole.Command, &whole
	if len(s.command.Keys) == 0 && s.command.Verb == commands.Inspect { // nothing watched, nothing queued
		s.transaction, s.done = nil, func(r *reply) { r.array(0) }
		return
	}
	if s.command.Verb.OfLocks() {
		s.ticket, s.err = c.start(&s.command)
	}
}

// executed writes what stands around the reply of a transaction's command, which write writes.
func (c *session) executed(t *commands.Transaction, ruling quorum.Ruling, write func()) {
	switch {
	case t.Whole, ruling.Verdict == quorum.Undecided:
		write()
	case t.Compared && ruling.Verdict == quorum.Denied:
		c.reply.nullArray()
	default:
		c.reply.array(1 + len(t.Tail))
		write()
		for _, r := range t.Tail {
			if ruling.Verdict == quorum.Denied {
				r = commands.Reply{Kind: commands.ReplyInt}
			}
			c.reply.script(r, 0)
		}
	}
}
