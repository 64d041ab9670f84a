package commands

import (
	"bytes"
	"strings"
)

func parseSet(c *Command, _ *Scripts) error {
	o, err := parseOptions("set", ofSet, c.Args[3:])
	if err != nil {
		return err
	}
	c.Key, c.Token, c.Expiry, c.Was, c.Old = c.Args[1], c.Args[2], o.expiry, o.was, o.get
	c.Verb, c.Owned, c.Missing, c.Other = Overwrite, replyOK, replyNil, replyNil
	switch o.condition {
	case "":
	case "NX":
		c.takes()
	case "XX":
		c.If = IfExists
	case "IFEQ":
		c.If = IfEqual
		if bytes.Equal(c.Token, c.Was) && !c.Old {
			// It holds the lock and goes on holding it: an extend, which is also topped up where it did not arrive.
			c.Verb, c.If, c.Was = Extend, Always, nil
		}
	case "IFNE":
		c.If = IfNotEqual
	default:
		return Unsupported("SET with " + o.condition)
	}
	if o.unit == "KEEPTTL" {
		return Unsupported("SET with KEEPTTL")
	}
	return nil
}

// takes makes SET a SET NX. With GET, nil says that it was granted: one that was denied has to answer
// the value, and nothing but a value.
func (c *Command) takes() {
	c.Verb, c.Owned, c.Missing = Take, replyNil, replyOK
	if c.Old {
		c.Old, c.Missing, c.Other, c.Compute = false, replyNil, Reply{Kind: ReplyComputed}, valueThatDenied
	}
}

// errFreed: what denied a take was gone when it was looked at.
const errFreed Error = "NOQUORUM the key was held, and then no value of it by a majority"

func valueThatDenied(seen []Seen) (Reply, error) {
	if !seen[0].Exists {
		return Reply{}, errFreed
	}
	return Reply{Kind: ReplyBulk, Text: seen[0].Value}, nil
}

func parseSetNX(c *Command, _ *Scripts) error {
	c.Key, c.Token = c.Args[1], c.Args[2]
	c.Owned, c.Missing, c.Other = reply0, reply1, reply0
	return nil
}

// parseSetEX is SETEX key seconds value, and PSETEX in milliseconds.
func parseSetEX(c *Command, _ *Scripts) (err error) {
	unit := "EX"
	if c.Name == "psetex" {
		unit = "PX"
	}
	c.Key, c.Token = c.Args[1], c.Args[3]
	c.Owned, c.Missing, c.Other = replyOK, replyNil, replyNil
	c.Expiry, err = parseExpiry(c.Name, unit, c.Args[2])
	return err
}

func parseGetSet(c *Command, _ *Scripts) error {
	c.Key, c.Token, c.Old = c.Args[1], c.Args[2], true
	return nil
}

func parseGetDel(c *Command, _ *Scripts) error {
	c.Key, c.Old = c.Args[1], true
	return nil
}

// parseGetEX: without an option it is a GET. PERSIST gives max-ttl, as PERSIST does.
func parseGetEX(c *Command, _ *Scripts) error {
	o, err := parseOptions("getex", ofGetEX, c.Args[2:])
	if err != nil {
		return err
	}
	c.Key, c.Verb = c.Args[1], Get
	if o.unit != "" {
		c.Verb, c.Expiry, c.Old = Expire, o.expiry, true
	}
	return nil
}

// parseDelEX is DELEX key [IFEQ value|IFNE value]. Without a condition it is DEL of one key.
func parseDelEX(c *Command, _ *Scripts) error {
	if len(c.Args) == 2 {
		c.Keys = c.Args[1:]
		c.deletes()
		return nil
	}
	if len(c.Args) != 4 {
		return WrongArity(c.Name)
	}
	c.Key = c.Args[1]
	switch word := strings.ToUpper(string(c.Args[2])); word {
	case "IFEQ":
		c.releases(c.Args[3])
	case "IFNE":
		c.If, c.Was = IfNotEqual, c.Args[3]
		c.deletes()
	case "IFDEQ", "IFDNE":
		return Unsupported("DELEX with " + word)
	default:
		return errSyntax
	}
	return nil
}

func parseDelIfEq(c *Command, _ *Scripts) error {
	c.Key = c.Args[1]
	c.releases(c.Args[2])
	return nil
}

func (c *Command) releases(token []byte) {
	c.Verb, c.Token = Release, token
	c.Owned, c.Missing, c.Other = reply1, reply0, reply0
}
