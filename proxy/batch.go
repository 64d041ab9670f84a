package proxy

import (
	"sync"
	"time"

	"redlockd/commands"
	"redlockd/quorum"
)

// batch is what a session needs while it serves: most are idle, most of the time, and need none of it.
type batch struct {
	steps []step
	next  step   // that is being begun
	out   []byte // for replies

	// T1 of all rounds that are started before the batch is settled, and the time of day then; 0 if there is none yet.
	began time.Duration
	wall  time.Time

	left     int // commands that are not begun yet
	reserved int // rounds that there is room for
}

// batches that are not in use.
var batches sync.Pool

// What a batch may keep of a large one before it.
const (
	maxIdleReply = 16 << 10 // bytes of its replies
	maxIdleSteps = 64       // commands
)

func (c *session) open() {
	c.batch, _ = batches.Get().(*batch)
	if c.batch == nil {
		c.batch = new(batch)
	}
	c.reply.out = c.batch.out
}

// close is called when all of the batch has been answered.
func (c *session) close() {
	b := c.batch
	b.out, b.next = nil, step{}
	if cap(c.reply.out) <= maxIdleReply {
		b.out = c.reply.out
	}
	if cap(b.steps) > maxIdleSteps {
		b.steps = nil
	}
	c.batch, c.reply.out = nil, nil
	batches.Put(b)
}

// step is one command of a batch.
type step struct {
	command commands.Command
	ticket  *quorum.Ticket // of a lock command
	err     error          // to be answered in its place
	done    func(*reply)   // already carried out; writes the reply

	transaction *commands.Transaction // EXEC: what command stands for
	look        *quorum.Ticket        // what the keys hold, for a reply that depends on it
}
