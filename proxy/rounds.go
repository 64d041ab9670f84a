package proxy

import (
	"time"

	"redlockd/commands"
	"redlockd/quorum"
)

// start the round of a lock command. Where there is no room for it, what was started before is answered first.
func (c *session) start(cmd *commands.Command) (*quorum.Ticket, error) {
	fleet := c.server.Fleet
	if c.reserved == 0 {
		// For all that is left of the batch: bit by bit, a crowd would end with one round in each flush and in each reply.
		n := min(1+c.left, fleet.MaxReserve())
		if !fleet.TryReserve(n) {
			c.settle()
			fleet.Reserve(n)
		}
		c.reserved = n
	}
	return c.startReserved(cmd)
}

// beforeLong is called before something that takes its time, in the middle of a batch. What was begun before is answered before: its T2
// must not come behind that (R14), nor the T1 of what follows be from before it.
func (c *session) beforeLong() { c.settle() }

// unreserve gives up the room that was not used: others must not wait for it while we wait for something else.
func (c *session) unreserve() {
	if c.reserved > 0 {
		c.server.Fleet.Release(c.reserved)
		c.reserved = 0
	}
}

// startBehind starts a round while the batch is being settled.
func (c *session) startBehind(cmd *commands.Command) (*quorum.Ticket, error) {
	c.server.Fleet.Reserve(1)
	c.reserved, c.began = 1, 0
	t, err := c.startReserved(cmd)
	c.unreserve() // what was refused: the next second round reserves anew
	return t, err
}

// startReserved uses the room that was reserved, unless the command is refused.
func (c *session) startReserved(cmd *commands.Command) (*quorum.Ticket, error) {
	fleet := c.server.Fleet
	if c.began == 0 {
		// T1, before the first byte is sent to a node (R10), and before an absolute expiry is counted. The rounds of a batch share
		// it: to those that are parsed later it is a moment too early, so that they count as longer than they were.
		c.began, c.wall = fleet.Now(), time.Now()
	}
	if cmd.DB < 0 {
		cmd.DB = c.db // kept for a second round: a SELECT may have been pipelined behind the command
	}
	t := fleet.NewTicket()
	clamped, err := c.server.Locks.request(&t.Request, cmd, c.wall)
	if err != nil {
		return nil, err
	}
	c.reserved--
	if clamped {
		c.server.noteClamped(cmd)
	}
	t.Start(c.began)
	return t, nil
}

// goOn starts what an Inspect decides about, and waits for it. Other clients, and what was pipelined behind it, may come in between: what is
// carried out is one atomic step all the same, by whoever still holds the key then.
func (c *session) goOn(s *step) {
	if s.command.Next == nil {
		return
	}
	ruling, undecided := s.ticket.Confirm(c.server.Fleet.Now())
	s.ticket.Free()
	s.ticket = nil
	if undecided != nil {
		s.err = undecided
		return
	}
	look := s.command
	next, err := look.Next(seen(ruling.Seen))
	switch {
	case err != nil:
		s.err = err
	case next == nil:
		s.done = func(r *reply) { r.computed(&look, ruling.Seen) }
	default:
		s.command = *next
		s.command.DB = look.DB
		if s.ticket, s.err = c.startBehind(&s.command); s.err == nil {
			s.ticket.Wait(false)
		}
	}
}

// lookAgain reads what the keys hold, for a command that was denied and whose reply depends on that.
func (c *session) lookAgain(s *step) {
	if s.ticket == nil || s.command.Other.Kind != commands.ReplyComputed || !s.ticket.Denied() {
		return
	}
	look := commands.Command{Verb: commands.Inspect, Keys: s.command.Keys, DB: s.command.DB}
	if s.command.Key != nil {
		look.Keys = [][]byte{s.command.Key}
	}
	if s.look, s.err = c.startBehind(&look); s.err == nil {
		s.look.Wait(false)
	}
}
