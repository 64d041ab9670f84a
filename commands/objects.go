package commands

import (
	"math"
	"strings"
)

// parseObject is OBJECT ENCODING and its kin of a key, answered as Redis answers them for a string.
func parseObject(c *Command, _ *Scripts) error {
	switch c.Sub {
	case "encoding":
		c.looksAt(c.Args[2], func(s Seen) Reply { return ifExists(s, Reply{Kind: ReplyBulk, Text: []byte(encodingOf(s.Value))}) })
	case "refcount":
		c.looksAt(c.Args[2], func(s Seen) Reply { return ifExists(s, reply1) })
	case "idletime":
		c.looksAt(c.Args[2], func(s Seen) Reply { return ifExists(s, reply0) })
	case "freq":
		c.looksAt(c.Args[2], func(s Seen) Reply { return ifExists(s, Reply{Kind: ReplyError, Text: []byte(errNoFreq)}) })
	}
	return nil
}

const errNoFreq = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
	"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."

func ifExists(s Seen, r Reply) Reply {
	if !s.Exists {
		return replyNil
	}
	return r
}

// maxEmbedded is the longest string that Redis keeps in one piece with its header.
const maxEmbedded = 44

func encodingOf(value []byte) string {
	_, err := parseInt(value)
	switch {
	case err == nil:
		return "int"
	case len(value) <= maxEmbedded:
		return "embstr"
	default:
		return "raw"
	}
}

// keyOverhead is about what a node needs for a key with an expiry, beside the bytes of key and value.
const keyOverhead = 96

// parseMemory is MEMORY USAGE key [SAMPLES count].
func parseMemory(c *Command, _ *Scripts) error {
	if c.Sub != "usage" {
		return nil
	}
	for rest := c.Args[3:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !strings.EqualFold(string(rest[0]), "samples") {
			return errSyntax
		}
		n, err := parseInt(rest[1])
		switch {
		case err != nil:
			return err
		case n < 0 || n > math.MaxInt32:
			return errSyntax
		}
	}
	key := c.Args[2]
	c.looksAt(key, func(s Seen) Reply {
		return ifExists(s, Reply{Kind: ReplyInt, Int: int64(keyOverhead + len(key) + len(s.Value))})
	})
	return nil
}
