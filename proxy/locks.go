package proxy

import (
	"cmp"
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

// maxLooked is how many keys one command may look at. Values are all that makes the nodes' answers large, and everybody's votes wait
// behind them: a thousand values of full size would make a node miss its timeout.
const maxLooked = 128

// request fills in the request of a command. clamped says that its ttl was replaced by MaxTTL.
func (l *LockRules) request(req *quorum.Request, c *commands.Command, wall time.Time) (clamped bool, err error) {
	if !l.harmless(c) {
		if err := cmp.Or(l.sizes(c), reserved(c)); err != nil {
			return false, err
		}
	}
	c.Asked = wall
	if c.Verb == commands.Expire && c.Expiry.Kind == commands.SinceEpoch && c.Expiry.MS <= wall.UnixMilli() {
		c.Lapse()
	}
	req.Op, req.Key, req.Keys, req.Token, req.Tokens = ops[c.Verb], inDB(c.Key, c.DB), allInDB(c.Keys, c.DB), c.Token, c.Tokens
	req.Each, req.Own, req.Prefix = c.Each, owns[c.Own], c.Prefix
	req.If, req.Was, req.Old = conditions[c.If], c.Was, c.Old
	switch c.Verb {
	case commands.Extend:
		req.Add, req.Cap = c.Add, l.life(l.MaxTTL)
	case commands.TTL, commands.PTTL, commands.ExpireTime, commands.PExpireTime:
		req.Keys = [][]byte{req.Key}
	}
	if req.Op == 0 {
		panic(fmt.Sprintf("proxy: verb %d is not about locks", c.Verb))
	}
	if !req.Op.Promises() {
		return false, nil
	}
	req.TTL, clamped, err = l.ttl(c, wall)
	req.Life = l.life(req.TTL)
	req.Fixed = c.Expiry.Kind == commands.SinceEpoch
	return clamped, err
}

var (
	ops = [256]quorum.Op{
		commands.Take: quorum.Take, commands.Overwrite: quorum.Overwrite, commands.Release: quorum.Release,
		commands.Extend: quorum.Extend, commands.Get: quorum.Get, commands.TTL: quorum.Inspect, commands.PTTL: quorum.Inspect,
		commands.ExpireTime: quorum.Inspect, commands.PExpireTime: quorum.Inspect,
		commands.Inspect: quorum.Inspect, commands.Delete: quorum.Delete, commands.Exists: quorum.Exists,
		commands.Expire: quorum.Expire, commands.DBSize: quorum.Size,
	}
	owns       = [...]quorum.Own{commands.OwnEach: quorum.OwnEach, commands.OwnAll: quorum.OwnAll}
	conditions = [...]quorum.Condition{
		commands.IfMissing: quorum.IfMissing, commands.IfExists: quorum.IfExists,
		commands.IfEqual: quorum.IfEqual, commands.IfNotEqual: quorum.IfNotEqual,
		commands.IfNoExpiry: quorum.IfNoExpiry, commands.IfExpiry: quorum.IfExpiry,
		commands.IfLater: quorum.IfLater, commands.IfSooner: quorum.IfSooner,
	}
)

// inDB is the key of a client's database as the nodes have it.
func inDB(key []byte, db int) []byte {
	if db == 0 || key == nil {
		return key
	}
	return append(fmt.Appendf(nil, "%s%d:", quorum.DBPrefix, db), key...)
}

func allInDB(keys [][]byte, db int) [][]byte {
	if db == 0 || keys == nil {
		return keys
	}
	all := make([][]byte, len(keys))
	for i, key := range keys {
		all[i] = inDB(key, db)
	}
	return all
}

// named calls f with every key and every value of a command.
func named(c *commands.Command, key, value func([]byte) error) error {
	err := cmp.Or(key(c.Key), value(c.Token), value(c.Was))
	for _, k := range c.Keys {
		err = cmp.Or(err, key(k))
	}
	for _, k := range c.Named {
		err = cmp.Or(err, key(k))
	}
	for _, t := range c.Tokens {
		err = cmp.Or(err, value(t))
	}
	return err
}

// harmless says of most commands, quickly, that sizes and reserved have nothing against them.
func (l *LockRules) harmless(c *commands.Command) bool {
	return c.Keys == nil && c.Named == nil && c.Tokens == nil && c.Was == nil &&
		len(c.Key) <= l.MaxKey && len(c.Token) <= l.MaxToken && !isReserved(c.Key) && string(c.Token) != quorum.Blocker
}

func (l *LockRules) sizes(c *commands.Command) error {
	if c.Verb == commands.Inspect && len(c.Keys) > maxLooked {
		return commands.Error(fmt.Sprintf("ERR more than %d keys to look at in one command", maxLooked))
	}
	return named(c, func(key []byte) error {
		if len(key) > l.MaxKey {
			return commands.Error(fmt.Sprintf("ERR key of %d bytes is longer than max-key %d", len(key), l.MaxKey))
		}
		return nil
	}, func(value []byte) error {
		if len(value) > l.MaxToken {
			return commands.Error(fmt.Sprintf("ERR value of %d bytes is longer than max-token %d", len(value), l.MaxToken))
		}
		return nil
	})
}

// reserved refuses what is ours on the nodes (P12). A client that could write a mark would let a node vote that has
// forgotten; one that could delete it would take a vote away; one whose token is the blocker's could release what it does not hold.
func reserved(c *commands.Command) error {
	return named(c, func(key []byte) error {
		if isReserved(key) {
			return commands.Reserved("key", key)
		}
		return nil
	}, func(value []byte) error {
		if string(value) == quorum.Blocker {
			return commands.Reserved("value", value)
		}
		return nil
	})
}

func isReserved(key []byte) bool {
	return len(key) >= len(quorum.Reserved) && string(key[:len(quorum.Reserved)]) == quorum.Reserved
}

// ttl is the time to live that is granted: never more than was asked for, and never none.
func (l *LockRules) ttl(c *commands.Command, wall time.Time) (ttl time.Duration, clamped bool, err error) {
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

func (l *LockRules) life(ttl time.Duration) time.Duration {
	if l.PadTTL {
		return quorum.Pad(ttl)
	}
	return ttl
}

// answer writes the reply of a lock command: the one table of verb and verdict. held is what the keys held after a denial, if
// the reply depends on that.
func answer(r *reply, c *commands.Command, ruling quorum.Ruling, held []quorum.Held, err *quorum.NoQuorum) {
	switch {
	case ruling.Verdict == quorum.Undecided:
		r.error(err.Error())
	case c.Old, c.Verb == commands.Get:
		r.bulk(ruling.Value)
	case c.Verb == commands.TTL || c.Verb == commands.PTTL:
		r.int(timeLeft(c.Verb, ruling.Seen[0]))
	case c.Verb == commands.ExpireTime || c.Verb == commands.PExpireTime:
		r.int(expireTime(c, ruling.Seen[0]))
	case c.Verb == commands.Inspect:
		r.computed(c, ruling.Seen)
	case held != nil && found(c, ruling).Kind == commands.ReplyComputed:
		r.computed(c, held)
	case c.Verb == commands.Exists || c.Verb == commands.Expire || c.Verb == commands.DBSize:
		r.int(ruling.Number)
	default:
		r.script(found(c, ruling), ruling.Number)
	}
}

// found is what a command answers, by what a majority found at its key.
func found(c *commands.Command, ruling quorum.Ruling) commands.Reply {
	granted, take := ruling.Verdict == quorum.Granted, c.Verb == commands.Take
	switch {
	case ruling.Number == quorum.Mine, granted && !take:
		return c.Owned
	case !granted && (take || ruling.Number == quorum.Other):
		return c.Other
	default:
		return c.Missing
	}
}

// seen is what commands may know of a key: the remaining time with drift taken off.
func seen(held []quorum.Held) []commands.Seen {
	all := make([]commands.Seen, len(held))
	for i, h := range held {
		all[i] = commands.Seen{Exists: h.Exists, Value: h.Value, Left: left(h)}
	}
	return all
}

// left is negative for a key without expiry.
func left(h quorum.Held) time.Duration {
	if h.Left == quorum.Forever {
		return -1
	}
	return quorum.Unpad(time.Duration(h.Left) * time.Millisecond)
}

// timeLeft is what TTL and PTTL answer: rounded down, drift taken off, so that it is
// never a promise too long. -2: no such key, -1: no expiry.
func timeLeft(verb commands.Verb, h quorum.Held) int64 {
	switch left := left(h); {
	case !h.Exists:
		return -2
	case left < 0:
		return -1
	case verb == commands.TTL:
		return int64(left / time.Second)
	default:
		return left.Milliseconds()
	}
}

// expireTime is what EXPIRETIME and PEXPIRETIME answer, by our own time of day: counted from before the nodes were
// asked, and rounded down, so that it is never too late an instant.
func expireTime(c *commands.Command, h quorum.Held) int64 {
	left := timeLeft(commands.PTTL, h)
	switch at := c.Asked.UnixMilli() + left; {
	case left < 0:
		return left
	case c.Verb == commands.ExpireTime:
		return at / 1000
	default:
		return at
	}
}
