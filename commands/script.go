// What a script does and what it answers: the contract between a client's script and our own operations.

package commands

import (
	"fmt"
	"time"
)

// ReplyKind is the type of a Reply on the wire.
type ReplyKind int

const (
	ReplyNil ReplyKind = iota
	ReplyInt
	ReplyStatus
	ReplyBulk
	ReplyError
	ReplyArray
	// ReplyCount is an integer: how many of the keys were deleted (Release of each).
	ReplyCount
	// ReplyNilArray is what EXEC answers when what was watched has changed.
	ReplyNilArray
	// ReplyComputed depends on what the keys hold: see Command.Compute.
	ReplyComputed
)

// Reply is what a script answers in one state of the key, in Redis's conversion of Lua values.
type Reply struct {
	Kind  ReplyKind
	Int   int64
	Text  []byte // status, bulk or error text, the error's prefix included; shared, not to be changed
	Items []Reply
}

// Seen is what a majority holds at a key.
type Seen struct {
	Exists bool
	Value  []byte
	Left   time.Duration // negative: the key has no expiry
}

// ScriptOp says which of our operations a script amounts to.
type ScriptOp int

const (
	ScriptUnknown ScriptOp = iota // never carried out
	ScriptRelease                 // delete the keys if they hold their tokens
	ScriptExtend                  // give the keys a new expiry if they hold their tokens
	ScriptTake                    // set the keys to their tokens if they do not exist; see Script.Own
	ScriptInspect                 // change nothing
)

func (op ScriptOp) String() string {
	return [...]string{"unknown", "release", "extend", "take", "inspect"}[op]
}

// Script is what a script turned out to do with the keys and arguments of one call.
type Script struct {
	Op         ScriptOp
	Key, Token []byte        // the values of this call: slices of its keys and arguments
	TTL        time.Duration // extend only: the new expiry, or what is added to the remaining time
	Add        bool          // extend only: TTL is added to the remaining time

	// What it answers when the key holds Token, is missing, holds something else.
	Owned, Missing, Other Reply
}

// ErrNoScript is compared by clients byte for byte; they answer it with EVAL or SCRIPT LOAD.
const ErrNoScript = Error("NOSCRIPT No matching script. Please use EVAL.")

// refusal is the error for a script that is neither a release nor an extend; why continues "it …".
func refusal(sha, why string) error {
	return Error(fmt.Sprintf("ERR redlockd does not run scripts: %s is not a release or an extend of one key: it %s",
		sha, why))
}
