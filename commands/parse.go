package commands

import (
	"strings"
	"time"
)

// Command is what a client wants.
type Command struct {
	Verb Verb
	// Name is the command's name in lower case, for errors.
	Name string
	// Sub is the name of the subcommand in lower case, if there is one.
	Sub string
	// Args are all arguments, the name first: for the verbs that are not about locks.
	Args [][]byte
	// Slow, if it is set before Parse, is called when Parse is about to take its time: to find out what a script does.
	Slow func()
	// DB is the database that a script has selected for itself; -1: that of the connection.
	DB int

	Key   []byte
	Token []byte
	// Keys in place of Key. Delete, Exists and Inspect have no other. Take, Release and Extend have them if there are many,
	// with a token for each.
	Keys, Tokens [][]byte
	// Named are further keys that the command was called with and does not use.
	Named [][]byte

	Expiry Expiry // Take, Overwrite, Extend, Expire
	Add    bool   // Extend: Expiry is added to the remaining time
	Each   bool   // Release: every key that holds its token, instead of all or none
	// Own says what a Take does with keys that hold their tokens already, and Prefix, if not 0, how many bytes of a token it compares.
	Own    Own
	Prefix int
	// If is the condition of an Overwrite, a Delete of one Key, an Expire. Was is for IfEqual and IfNotEqual.
	If  Condition
	Was []byte
	// Old: an Overwrite, a Delete of one Key or an Expire answers the value from before.
	Old bool

	// What is answered, by what a majority of the nodes found at the key: it held Token, was missing, held something else. A Release, an
	// Extend and an Overwrite that are granted are answered by Owned, a Take by Missing or by Owned. A
	// Delete is answered by Owned if it deleted anything, else by Missing.
	Owned, Missing, Other Reply
	// Asked is the time of day before the round began: set by whoever starts it, for ExpireTime and PExpireTime.
	Asked time.Time
	// Next says, of an Inspect, what is to be carried out after it, by what Keys hold: nil if nothing, so that Compute answers. It is
	// for scripts that extend a lock only while it has a certain time left. It is nil where nothing ever follows.
	Next func(seen []Seen) (*Command, error)
	// Publish is told to the clients of this redlockd when the command was granted.
	Publish []Message
	// Compute makes the reply of an Inspect out of what Keys hold; and, if Other is ReplyComputed, that of a command that was denied,
	// out of what the keys hold then. It is nil if there is nothing to compute.
	Compute func(seen []Seen) (Reply, error)
}

// Own says what a Take does with a key that holds its token already.
type Own uint8

const (
	OwnRefused Own = iota // it is refused, like any other: SET NX
	OwnEach               // it is taken again, with a new expiry; each of the keys may be missing or hold its token
	OwnAll                // the same, but either all keys are missing or all hold their tokens
)

// Condition is what must be true of a key for it to be changed.
type Condition uint8

const (
	Always     Condition = iota
	IfMissing            // NX of SET
	IfExists             // XX of SET
	IfEqual              // IFEQ
	IfNotEqual           // IFNE: it holds something else, or nothing
	// Of an Expire:
	IfNoExpiry // NX
	IfExpiry   // XX
	IfLater    // GT: the new expiry is later than the present one
	IfSooner   // LT
)

var (
	replyOK  = Reply{Kind: ReplyStatus, Text: []byte("OK")}
	replyNil = Reply{Kind: ReplyNil}
	reply1   = Reply{Kind: ReplyInt, Int: 1}
	reply0   = Reply{Kind: ReplyInt, Int: 0}
)

// Parse what args, the name of a command and what stands behind it, ask for into c, which is empty. There
// is at least one. The error's text is the whole error reply. args must not be changed afterwards.
func (c *Command) Parse(args [][]byte, scripts *Scripts) error {
	spec := specOf(args[0])
	if spec == nil {
		return Unknown(args)
	}
	if !fits(spec.Arity, len(args)) {
		return WrongArity(spec.Name)
	}
	sub, err := subOf(spec.Name, args)
	if err != nil {
		return err
	}
	c.Verb, c.Name, c.Sub, c.Args, c.DB = spec.verb, spec.Name, sub, args, -1
	if spec.parse == nil {
		return nil
	}
	return spec.parse(c, scripts)
}

// maxName is more than the longest name that we know.
const maxName = 32

func parseKey(c *Command, _ *Scripts) error {
	c.Key = c.Args[1]
	return nil
}

func parseKeys(c *Command, _ *Scripts) error {
	c.Keys = c.Args[1:]
	return nil
}

func parseDel(c *Command, _ *Scripts) error {
	c.Keys = c.Args[1:]
	c.deletes()
	return nil
}

// deletes makes c a Delete that answers how many keys it has deleted.
func (c *Command) deletes() {
	counted := Reply{Kind: ReplyCount}
	c.Verb, c.Owned, c.Missing, c.Other = Delete, counted, counted, counted
}

// NameOf is a command's name as the table has it, whatever the client sent.
func NameOf(arg []byte) string {
	return strings.ToLower(string(arg[:min(len(arg), maxName)]))
}
