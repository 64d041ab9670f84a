package commands

import (
	"math"
	"strings"
)

// Command is what a client wants.
type Command struct {
	Verb Verb
	// Name is the command's name in lower case, for errors.
	Name string
	// Args are all arguments, the name first: for the verbs that are not about locks.
	Args [][]byte

	Key    []byte
	Keys   [][]byte // Delete, Exists; of a script all that it was called with, Key among them
	Token  []byte
	Expiry Expiry // Take, Overwrite, Extend, Expire

	Existing bool // Overwrite: XX
	Add      bool // Extend: Expiry is added to the remaining time

	// What is answered when the verdict is granted; denied for want of the key; denied because
	// the key holds something else. Of Take, Overwrite, Release, Extend.
	Granted, Missing, Other Reply
}

var (
	replyOK  = Reply{Kind: ReplyStatus, Text: []byte("OK")}
	replyNil = Reply{Kind: ReplyNil}
	reply1   = Reply{Kind: ReplyInt, Int: 1}
	reply0   = Reply{Kind: ReplyInt, Int: 0}
)

// Parse says what args, the name of a command and what stands behind it, ask for. There
// is at least one. The error's text is the whole error reply. args must not be changed afterwards.
func Parse(args [][]byte, scripts *Scripts) (Command, error) {
	name := NameOf(args[0])
	if transactional[name] {
		return Command{Verb: Transaction, Name: name, Args: args}, nil
	}
	spec, ok := table[name]
	if !ok {
		return Command{}, Unknown(args)
	}
	if spec.Arity > 0 && len(args) != spec.Arity || len(args) < -spec.Arity {
		return Command{}, WrongArity(name)
	}
	c := Command{Verb: spec.verb, Name: name, Args: args}
	if spec.parse == nil {
		return c, nil
	}
	err := spec.parse(&c, scripts)
	return c, err
}

// transactional commands are known only to be refused, together with what stands between them.
var transactional = map[string]bool{"multi": true, "exec": true, "discard": true, "watch": true, "unwatch": true}

// maxName is more than the longest name that we know.
const maxName = 32

func parseSet(c *Command, _ *Scripts) error {
	o, err := parseSetOptions(c.Args[3:])
	if err != nil {
		return err
	}
	c.Key, c.Token, c.Expiry = c.Args[1], c.Args[2], o.expiry
	c.Verb, c.Existing = Overwrite, o.xx
	if o.nx {
		c.Verb = Take
	}
	c.Granted, c.Missing, c.Other = replyOK, replyNil, replyNil
	return nil
}

func parseSetNX(c *Command, _ *Scripts) error {
	c.Key, c.Token = c.Args[1], c.Args[2]
	c.Granted, c.Missing, c.Other = reply1, reply0, reply0
	return nil
}

func parseKey(c *Command, _ *Scripts) error {
	c.Key = c.Args[1]
	return nil
}

func parseKeys(c *Command, _ *Scripts) error {
	c.Keys = c.Args[1:]
	return nil
}

func parseExpireCommand(c *Command, _ *Scripts) error {
	if len(c.Args) > 3 {
		switch word := strings.ToUpper(string(c.Args[3])); word {
		case "NX", "XX", "GT", "LT":
			return Unsupported(strings.ToUpper(c.Name) + " with " + word)
		default:
			return Error("ERR Unsupported option " + cString(c.Args[3], 128))
		}
	}
	n, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	if c.Name == "expire" {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return errExpire(c.Name)
		}
		n *= 1000
	}
	if n > math.MaxInt64-farFuture {
		return errExpire(c.Name)
	}
	c.Key, c.Expiry = c.Args[1], Expiry{FromNow, n}
	if n <= 0 { // as Redis: an expiry in the past deletes the key
		c.Verb, c.Keys = Delete, [][]byte{c.Key}
	}
	return nil
}

func parseEval(c *Command, scripts *Scripts) error {
	n, err := parseInt(c.Args[2])
	switch {
	case err != nil:
		return err
	case n < 0:
		return errNegative
	case n > int64(len(c.Args)-3):
		return errNoKeys
	}
	keys, args := c.Args[3:3+n], c.Args[3+n:]
	var s Script
	if c.Name == "evalsha" {
		s, err = scripts.EvalSHA(string(c.Args[1]), keys, args)
	} else {
		s, err = scripts.Eval(c.Args[1], keys, args)
	}
	if err != nil {
		return err
	}
	c.Verb = Release
	if s.Op == ScriptExtend {
		c.Verb, c.Add = Extend, s.Add
		c.Expiry = Expiry{FromNow, s.TTL.Milliseconds()}
	}
	c.Key, c.Keys, c.Token = s.Key, keys, s.Token
	c.Granted, c.Missing, c.Other = s.Owned, s.Missing, s.Other
	return nil
}

// NameOf is a command's name as the table has it, whatever the client sent.
func NameOf(arg []byte) string {
	return strings.ToLower(string(arg[:min(len(arg), maxName)]))
}
