package quorum

import (
	"strconv"
	"strings"
	"time"
)

// What is ours on a node. All of it begins with Reserved, is refused to clients, and does not grow
// with the number of locks.
const (
	Reserved = "redlockd:"
	// DBPrefix, then a number and a colon, is what the keys of a client's database other than 0 begin with on the nodes. They are locks
	// like those of database 0. We use no databases of the nodes for them: each of those can be flushed alone, and
	// would need a mark of its own (P1).
	DBPrefix = "redlockd:db"
	// MarkKey holds the node's Mark (P1).
	MarkKey = Reserved + "boot"
	// TeacherKey names the redlockd that teaches the node, for a few seconds at a time, so that others wait and do
	// not disturb it. No safety depends on it.
	TeacherKey = Reserved + "teacher"
	// ProbeKey is written and deleted within one step, to see what the node's user may do.
	ProbeKey = Reserved + "probe"
	// Blocker is the value of a key that is held by somebody unknown (P8). It is no client's token.
	Blocker = Reserved + "blocked"
)

// Mark is the value of MarkKey (P1). The zero value is that of a node that has none: it forgot, or is new.
type Mark struct {
	// RunID, if not empty, is the instance that is vouched for.
	RunID string
	// Nonce is never used twice. Without RunID: the node is being taught.
	Nonce string
	// Offset is the node's clock minus the wall clock of the redlockd that vouched, at that moment.
	Offset time.Duration
}

const teaching = "teaching:"

// ParseMark of a node, "" if it has none. What is not understood vouches for nothing.
func ParseMark(s string) Mark {
	if nonce, ok := strings.CutPrefix(s, teaching); ok {
		return Mark{Nonce: nonce}
	}
	parts := strings.Split(s, ":")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return Mark{}
	}
	ms, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || ms > maxOffset || ms < -maxOffset {
		return Mark{}
	}
	return Mark{RunID: parts[0], Nonce: parts[1], Offset: time.Duration(ms) * time.Millisecond}
}

// VouchOf is the part of a mark that a renewed offset leaves as it was: it stands for one life of the node's memory. It ends with
// a colon, so that it is no prefix of another's. Empty if the mark vouches for nothing.
func VouchOf(mark string) string {
	if ParseMark(mark).RunID == "" {
		return ""
	}
	return mark[:strings.LastIndexByte(mark, ':')+1]
}

// maxOffset is as many milliseconds as fit a Duration.
const maxOffset = int64(1<<63-1) / int64(time.Millisecond)

// A node that was un-vouched because its clock jumped, or because it may have evicted keys, carries SpoiltMark in place of its mark,
// and the nonce of a lesson begins with again from then on: it has locks, and has lost some, so that a fleet of such
// nodes is not new (P11).
const (
	SpoiltMark = "spoilt"
	again      = "again-"
)

// IsSpoilt says that the node was un-vouched for that and has not been taught since.
func IsSpoilt(mark string) bool {
	return mark == SpoiltMark || strings.HasPrefix(mark, teaching+again)
}

// String is the inverse of ParseMark.
func (m Mark) String() string {
	switch {
	case m.RunID != "":
		return m.RunID + ":" + m.Nonce + ":" + strconv.FormatInt(m.Offset.Milliseconds(), 10)
	case m.Nonce != "":
		return teaching + m.Nonce
	default:
		return ""
	}
}
