package proxy

import (
	"fmt"
	"time"

	"redlockd/commands"
	"redlockd/quorum"
)

// LockRules are the limits of locks.
type LockRules struct {
	MaxTTL           time.Duration // R8: every lock ends
	RefuseOverTTL    bool          // a longer or a missing ttl is an error; else it becomes MaxTTL
	PadTTL           bool          // the nodes pay the drift, see quorum.Pad
	MaxKey, MaxToken int           // bytes
}

// errPast: an absolute expiry that is over would grant what has lapsed already.
const errPast = commands.Error("ERR invalid expire time, in the past by the clock of redlockd")

// request makes the round of a command. clamped says that its ttl was replaced by MaxTTL.
func (l LockRules) request(c *commands.Command, wall time.Time) (req *quorum.Request, clamped bool, err error) {
	if err := l.sizes(c); err != nil {
		return nil, false, err
	}
	if err := reserved(c); err != nil {
		return nil, false, err
	}
	req = &quorum.Request{Key: c.Key, Token: c.Token}
	switch c.Verb {
	case commands.Take:
		req.Op = quorum.Take
	case commands.Overwrite:
		req.Op, req.Existing = quorum.Overwrite, c.Existing
	case commands.Release:
		req.Op = quorum.Release
	case commands.Extend:
		req.Op, req.Add, req.Cap = quorum.Extend, c.Add, l.life(l.MaxTTL)
	case commands.Get:
		req.Op = quorum.Get
	case commands.TTL, commands.PTTL:
		req.Op = quorum.Remaining
	case commands.Delete:
		req.Op, req.Keys = quorum.Delete, c.Keys
	case commands.Exists:
		req.Op, req.Keys = quorum.Exists, c.Keys
	case commands.Expire:
		req.Op = quorum.Expire
	case commands.DBSize:
		req.Op = quorum.Size
	default:
		panic(fmt.Sprintf("proxy: verb %d is not about locks", c.Verb))
	}
	if !req.Op.Promises() {
		return req, false, nil
	}
	req.TTL, clamped, err = l.ttl(c, wall)
	req.Life = l.life(req.TTL)
	req.Fixed = c.Expiry.Kind == commands.SinceEpoch
	return req, clamped, err
}

func (l LockRules) sizes(c *commands.Command) error {
	if len(c.Token) > l.MaxToken {
		return commands.Error(fmt.Sprintf("ERR value of %d bytes is longer than max-token %d", len(c.Token), l.MaxToken))
	}
	longest := len(c.Key)
	for _, key := range c.Keys {
		longest = max(longest, len(key))
	}
	if longest > l.MaxKey {
		return commands.Error(fmt.Sprintf("ERR key of %d bytes is longer than max-key %d", longest, l.MaxKey))
	}
	return nil
}

// reserved refuses what is ours on the nodes (P12). A client that could write a mark would let a node vote that has
// forgotten; one that could delete it would take a vote away; one whose token is the blocker's could release what it does not hold.
func reserved(c *commands.Command) error {
	if isReserved(c.Key) {
		return commands.Reserved("key", c.Key)
	}
	for _, key := range c.Keys {
		if isReserved(key) {
			return commands.Reserved("key", key)
		}
	}
	if string(c.Token) == quorum.Blocker {
		return commands.Reserved("value", c.Token)
	}
	return nil
}

func isReserved(key []byte) bool {
	return len(key) >= len(quorum.Reserved) && string(key[:len(quorum.Reserved)]) == quorum.Reserved
}

// ttl is the time to live that is granted: never more than was asked for, and never none.
func (l LockRules) ttl(c *commands.Command, wall time.Time) (ttl time.Duration, clamped bool, err error) {
	ms := c.Expiry.MS
	if c.Expiry.Kind == commands.SinceEpoch {
		if ms -= wall.UnixMilli(); ms <= 0 {
			return 0, false, errPast
		}
	}
	if c.Expiry.Kind != commands.NoExpiry && ms <= l.MaxTTL.Milliseconds() {
		return time.Duration(ms) * time.Millisecond, false, nil
	}
	if l.RefuseOverTTL {
		return 0, false, commands.Error(fmt.Sprintf("ERR a lock must expire within max-ttl %v (over-ttl is refuse)", l.MaxTTL))
	}
	return l.MaxTTL, true, nil
}

func (l LockRules) life(ttl time.Duration) time.Duration {
	if l.PadTTL {
		return quorum.Pad(ttl)
	}
	return ttl
}

// answer writes the reply of a lock command: the one table of verb and verdict.
func answer(r *reply, c *commands.Command, ruling quorum.Ruling, err *quorum.NoQuorum) {
	granted := ruling.Verdict == quorum.Granted
	switch {
	case ruling.Verdict == quorum.Undecided:
		r.error(err.Error())
	case c.Verb == commands.Get && granted:
		r.bulk(ruling.Value)
	case c.Verb == commands.Get:
		r.null()
	case c.Verb == commands.TTL || c.Verb == commands.PTTL:
		r.int(timeLeft(c.Verb, ruling))
	case c.Verb == commands.Delete || c.Verb == commands.Exists || c.Verb == commands.Expire || c.Verb == commands.DBSize:
		r.int(ruling.Number)
	case granted:
		r.script(c.Granted)
	case ruling.Number == quorum.Other:
		r.script(c.Other)
	default:
		r.script(c.Missing)
	}
}

// timeLeft is what TTL and PTTL answer: rounded down, drift taken off, so that it is
// never a promise too long. -2: no such key, -1: no expiry.
func timeLeft(verb commands.Verb, ruling quorum.Ruling) int64 {
	if ruling.Verdict != quorum.Granted {
		return -2
	}
	if ruling.Number == quorum.Forever {
		return -1
	}
	left := quorum.Unpad(time.Duration(ruling.Number) * time.Millisecond)
	if verb == commands.TTL {
		return int64(left / time.Second)
	}
	return left.Milliseconds()
}
