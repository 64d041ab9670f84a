package commands

import "math"

// parseMSetNX is MSETNX key value [key value ...]: all of the keys or none.
func parseMSetNX(c *Command, _ *Scripts) error {
	if len(c.Args)%2 == 0 {
		return WrongArity(c.Name)
	}
	return c.takesAll(c.Args[1:])
}

// parseMSetEX is MSETEX numkeys key value [key value ...] NX [EX seconds|...]. Only with NX it is a lock.
func parseMSetEX(c *Command, _ *Scripts) error {
	n, err := parseInt(c.Args[1])
	if err != nil || n <= 0 || n > math.MaxInt32 {
		return errNumKeys
	}
	rest := c.Args[2:]
	if 2*n > int64(len(rest)) {
		return errPairs
	}
	o, err := parseOptions(c.Name, ofMSetEX, rest[2*n:])
	switch {
	case err != nil:
		return err
	case o.condition != "NX":
		return Unsupported("MSETEX without NX")
	case o.unit == "KEEPTTL":
		return Unsupported("MSETEX with KEEPTTL")
	}
	c.Expiry = o.expiry
	return c.takesAll(rest[:2*n])
}

// takesAll takes the keys of pairs of key and value. Redis lets the last of two values of one key win; no lock
// is meant like that.
func (c *Command) takesAll(pairs [][]byte) error {
	c.Owned, c.Missing, c.Other = reply0, reply1, reply0
	if len(pairs) == 2 {
		c.Key, c.Token = pairs[0], pairs[1]
		return nil
	}
	seen := make(map[string]bool, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		if seen[string(pairs[i])] {
			return Unsupported("the key '" + cString(pairs[i], 128) + "' twice in one command")
		}
		seen[string(pairs[i])] = true
		c.Keys, c.Tokens = append(c.Keys, pairs[i]), append(c.Tokens, pairs[i+1])
	}
	return nil
}

func parseMGet(c *Command, _ *Scripts) error {
	c.Keys = c.Args[1:]
	c.Compute = func(seen []Seen) (Reply, error) {
		values := Reply{Kind: ReplyArray}
		for _, s := range seen {
			values.Items = append(values.Items, valueOf(s))
		}
		return values, nil
	}
	return nil
}

func valueOf(s Seen) Reply {
	if !s.Exists {
		return replyNil
	}
	return Reply{Kind: ReplyBulk, Text: s.Value}
}

func parseType(c *Command, _ *Scripts) error {
	c.looksAt(c.Args[1], func(s Seen) Reply {
		if s.Exists {
			return Reply{Kind: ReplyStatus, Text: []byte("string")}
		}
		return Reply{Kind: ReplyStatus, Text: []byte("none")}
	})
	return nil
}

func parseStrLen(c *Command, _ *Scripts) error {
	c.looksAt(c.Args[1], func(s Seen) Reply { return Reply{Kind: ReplyInt, Int: int64(len(s.Value))} })
	return nil
}

// looksAt makes an Inspect of one key, answered by what it holds.
func (c *Command) looksAt(key []byte, reply func(Seen) Reply) {
	c.Verb, c.Keys = Inspect, [][]byte{key}
	c.Compute = func(seen []Seen) (Reply, error) { return reply(seen[0]), nil }
}
