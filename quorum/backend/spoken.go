package backend

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"redlockd/quorum"
)

// Spoken is this package's side of what is said between redlockd and a node, without a socket: for a simulator, which brings both
// the wire and the node (quorumtest/sim).
type Spoken struct{}

// Lock is one that was read from a node and is to be merged into another.
type Lock = lock

// Scripts are the texts that a fresh connection loads.
func (Spoken) Scripts() []string {
	all := make([]string, len(scripts))
	for i, s := range scripts {
		all[i] = s.text
	}
	return all
}

// Request is what the node is sent for r, at now.
func (Spoken) Request(r *quorum.Request, now time.Duration) []string {
	return encode(nil, r, now, false).list()
}

// Answer is what a round is told of the node's reply.
func (Spoken) Answer(r *quorum.Request, value any, err error, look quorum.Look, doubt error, now time.Duration) quorum.Answer {
	a := decode(r, value, err).Doubted(r.Op, doubt)
	if doubt == nil {
		stamp(&a, r, look.Clock)
	}
	a.At = now
	return a
}

// Look is what the replies to TIME and GET of the mark say.
func (Spoken) Look(clock, mark any, trust quorum.Trust, sent, received time.Duration) quorum.Look {
	return lookOf([]reply{{value: clock}, {value: mark}}, trust, sent, received)
}

// Reading is the time that a script has answered.
func (Spoken) Reading(pair []any, sent, received time.Duration) (quorum.Reading, error) {
	return readingOf(pair, sent, received)
}

// Page is the reply to ReadPage.
func (Spoken) Page(v []any) (next string, locks []Lock, err error) { return readPage(v) }

// The scripts of readmission, as they are sent.

func (Spoken) Begin(runID, nonce, teacher, how string) []string {
	return spell("EVAL", beginArgs(runID, nonce, teacher, how))
}
func (Spoken) Tend(teacher, waits string) []string { return spell("EVAL", tendArgs(teacher, waits)) }
func (Spoken) Glance() []string                    { return spell("EVAL", glanceArgs()) }
func (Spoken) Leave(teacher string) []string       { return spell("EVAL", leaveArgs(teacher)) }
func (Spoken) Unvouch(vouch string) []string       { return spell("EVAL", unvouchArgs(vouch)) }
func (Spoken) Renew(old, renewed string) []string  { return spell("EVAL", renewArgs(old, renewed)) }
func (Spoken) ReadPage(cursor string) []string     { return spell("EVAL", pageArgs(cursor)) }
func (Spoken) Merge(mark string, locks []Lock) []string {
	return spell("EVAL", mergeArgs(mark, locks))
}
func (Spoken) Vouch(mark string, vouched quorum.Mark, low, high time.Duration) []string {
	return spell("EVAL", vouchArgs(mark, vouched, low, high))
}

// list is the words of one command.
func (w words) list() []string {
	number := func() (n int) {
		end := bytes.IndexByte(w, '\r')
		n, _ = strconv.Atoi(string(w[1:end]))
		w = w[end+2:]
		return n
	}
	list := make([]string, number())
	for i := range list {
		size := number()
		list[i], w = string(w[:size]), w[size+2:]
	}
	return list
}

// spell the words of a command as they are on the wire.
func spell(name string, args []any) []string {
	words := make([]string, 1, 1+len(args))
	words[0] = name
	for _, a := range args {
		switch a := a.(type) {
		case string:
			words = append(words, a)
		case []byte:
			words = append(words, string(a))
		default:
			words = append(words, fmt.Sprint(a))
		}
	}
	return words
}
