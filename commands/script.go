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

// ErrNoScript is compared by clients byte for byte; they answer it with EVAL or SCRIPT LOAD.
const ErrNoScript = Error("NOSCRIPT No matching script. Please use EVAL.")

// refusal is the error for a script that is none of our operations; why continues "it …".
func refusal(sha, why string) error {
	return Error(fmt.Sprintf("ERR redlockd does not run scripts: %s is not a take, release, extend or inspection of locks: it %s",
		sha, why))
}
