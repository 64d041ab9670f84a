package commands

import "bytes"

// MaxQueued is how many commands may stand between MULTI and EXEC. More than MaxCarriedOut are never carried out, but a client is told of
// that at EXEC.
const (
	MaxQueued     = 64
	MaxCarriedOut = 2
)

// MaxWatched is how many keys a connection may watch at a time.
const MaxWatched = 64

// Redis's own words.
const (
	ErrNested         Error = "ERR MULTI calls can not be nested"
	ErrNoMulti        Error = "ERR EXEC without MULTI"
	ErrNoMultiDiscard Error = "ERR DISCARD without MULTI"
	ErrWatch          Error = "ERR WATCH inside MULTI is not allowed"
	ErrAborted        Error = "EXECABORT Transaction discarded because of previous errors."
	ErrExecArity      Error = "EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command"
)

// Watched is what WATCH saw of a key, in a database.
type Watched struct {
	DB  int
	Key []byte
	Seen
}

// Transaction is what the commands between MULTI and EXEC amount to: one command, which is one atomic step on every node.
type Transaction struct {
	Command Command
	// Tail is what the array that EXEC answers holds behind the reply of Command; if that was denied, zeros.
	Tail []Reply
	// Compared: a denial says that what was watched has changed, so that EXEC answers nil.
	Compared bool
	// Whole: Command's reply is EXEC's.
	Whole bool
}

// Atomic turns a transaction of database db into one command. What was watched becomes the compare of it: "if the key still holds what was
// read". Redis would also notice a change to the same value; that is not seen here. The error, the whole text of EXEC's reply, is for
// what is not one change of one key.
func Atomic(watched []Watched, db int, queued []Command) (Transaction, error) {
	for _, w := range watched {
		if w.DB != db {
			return Transaction{}, discarded("watches a key of another database")
		}
	}
	if len(queued) == 0 {
		return unchanged(watched), nil
	}
	t, err := oneChange(queued)
	if err != nil || len(watched) == 0 {
		return t, err
	}
	c := &t.Command
	if key := keyOf(c); len(watched) > 1 || c.DB >= 0 && c.DB != db || key == nil || !bytes.Equal(key, watched[0].Key) {
		return t, discarded("watches another key than the one it changes")
	}
	t.Compared = true
	if watched[0].Exists {
		return t, ifHolds(c, watched[0].Value)
	}
	if c.Verb == Delete || c.Verb == Expire {
		nothing := reply0
		if c.Old {
			nothing = replyNil
		}
		return unchanged(watched, nothing), nil
	}
	return t, ifFree(c)
}

// unchanged is for a transaction that changes nothing: replies, if what was watched is as it was.
func unchanged(watched []Watched, replies ...Reply) Transaction {
	c := Command{Verb: Inspect, Name: "exec", DB: -1}
	for _, w := range watched {
		c.Keys = append(c.Keys, w.Key)
	}
	c.Compute = func(seen []Seen) (Reply, error) {
		for i, w := range watched {
			if seen[i].Exists != w.Exists || !bytes.Equal(seen[i].Value, w.Value) {
				return Reply{Kind: ReplyNilArray}, nil
			}
		}
		return Reply{Kind: ReplyArray, Items: replies}, nil
	}
	return Transaction{Command: c, Whole: true}
}

// oneChange is the one command that the queued ones are: the only one, or a SET or SETNX with the expiry that follows it. Redis would
// also give that expiry to a key that SETNX finds held: a lock would never end while others try to take it (R2). That is not
// done, and answered by 0.
func oneChange(queued []Command) (Transaction, error) {
	c := queued[0]
	switch {
	case c.Next != nil:
		return Transaction{}, discarded("has a script that decides by the time that is left")
	case len(queued) == 1 && (c.Verb.OfLocks() || c.Verb == Ping || c.Verb == Echo):
		return Transaction{Command: c}, nil
	case len(queued) == 1:
		return Transaction{}, discarded("has " + c.Name)
	case len(queued) > MaxCarriedOut:
		return Transaction{}, discarded("has more commands")
	}
	then := queued[1]
	sets := (c.Verb == Overwrite || c.Verb == Take && c.Keys == nil && c.Own == OwnRefused) && c.If == Always && !c.Old
	if !sets || then.Verb != Expire || then.If != Always || then.Old || !bytes.Equal(c.Key, then.Key) {
		return Transaction{}, discarded("has more commands")
	}
	c.Expiry = then.Expiry
	return Transaction{Command: c, Tail: []Reply{reply1}}, nil
}

// keyOf is the one key of a command, or nil.
func keyOf(c *Command) []byte {
	if c.Key == nil && len(c.Keys) == 1 {
		return c.Keys[0]
	}
	return c.Key
}

// ifHolds makes c the same command on the condition that its key holds value.
func ifHolds(c *Command, value []byte) error {
	switch {
	case c.Old:
		return discarded("answers the value from before")
	case c.Verb == Delete && c.If == Always:
		c.Verb, c.Key, c.Keys, c.Token, c.Owned = Release, keyOf(c), nil, value, reply1
	case c.Verb == Expire && c.If == Always:
		c.Verb, c.Token, c.Owned = Extend, value, reply1
	case c.Verb == Overwrite && (c.If == Always || c.If == IfExists) && bytes.Equal(c.Token, value):
		c.Verb, c.If = Extend, Always
	case c.Verb == Overwrite && (c.If == Always || c.If == IfExists):
		c.If, c.Was = IfEqual, value
	case (c.Verb == Release || c.Verb == Extend) && c.Keys == nil && bytes.Equal(c.Token, value):
	default:
		return discarded("has " + c.Name + " on a key that is held")
	}
	return nil
}

// ifFree makes c the same command on the condition that its key does not exist.
func ifFree(c *Command) error {
	switch {
	case c.Verb == Take && c.Keys == nil && c.Own == OwnRefused:
	case c.Verb == Overwrite && c.If == Always && !c.Old:
		c.Verb, c.Missing = Take, c.Owned
	default:
		return discarded("has " + c.Name + " on a key that is free")
	}
	return nil
}

// discarded is the error for a transaction that is more than one change of one key; why continues "this one …".
func discarded(why string) error {
	return Error("EXECABORT Transaction discarded: redlockd carries out one change of one key in a transaction, and this one " + OneLine(why))
}
