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
)

// Reply is what a script answers in one state of the key, in Redis's conversion of Lua values.
type Reply struct {
	Kind ReplyKind
	Int  int64
	Text []byte // status, bulk or error text, the error's prefix included; shared, not to be changed
}

// ScriptOp says which of our operations a script amounts to.
type ScriptOp int

const (
	ScriptUnknown ScriptOp = iota // never carried out
	ScriptRelease                 // delete the key if it holds the token
	ScriptExtend                  // give the key a new expiry if it holds the token
)

func (op ScriptOp) String() string {
	switch op {
	case ScriptRelease:
		return "release"
	case ScriptExtend:
		return "extend"
	default:
		return "unknown"
	}
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
