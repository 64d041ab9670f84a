// Replies that depend on what the keys hold: the script itself calculates them, in the sandbox, out of what a majority of the nodes holds.
// It is never run on a node.

package commands

import (
	"slices"
	"time"
)

// computation is one call of a script with its own values.
type computation struct {
	known      *knownScript
	keys, args [][]byte // KEYS and ARGV
	names      [][]byte // of the keys that were looked at
	inspect    bool
}

// compute is Command.Compute. An inspection that wants to change something is refused: nothing has been done. Any other command has
// been denied when this is asked: if it would be granted by now, the answer is the one that it would have got a moment ago, while another held
// the key and was about to let it go, so that nobody is told of a grant that there was not.
func (c *computation) compute(seen []Seen) (Reply, error) {
	r := c.run(seen)
	if r.changed() && !c.inspect && len(seen) > 0 {
		seen = slices.Clone(seen)
		seen[0] = Seen{Exists: true, Value: c.stranger(), Left: time.Millisecond}
		r = c.run(seen)
	}
	switch {
	case r.why != "":
		return Reply{}, refusal(c.known.sha, r.why)
	case r.changed():
		return Reply{}, refusal(c.known.sha, "does with these values what it did not do before")
	}
	return replyOf(r.reply, nil), nil
}

func (c *computation) run(seen []Seen) *run {
	r := &run{keys: texts(c.keys), argv: texts(c.args), names: texts(c.names), now: make([]modelKey, len(c.names))}
	for i := range r.now {
		if i < len(seen) && seen[i].Exists {
			r.now[i] = modelKey{exists: true, value: word{text: string(seen[i].Value)}, left: max(seen[i].Left.Milliseconds(), 0)}
			if seen[i].Left < 0 {
				r.now[i].left = noExpiry
			}
		}
	}
	newSandbox(c.known).execute(r)
	return r
}

func texts(values [][]byte) []word {
	all := make([]word, len(values))
	for i, v := range values {
		all[i] = word{text: string(v)}
	}
	return all
}

// stranger is a value that is neither the call's nor the script's, and begins like none of them.
func (c *computation) stranger() []byte {
	value := []byte("\x00held by another")
	for taken := true; taken; {
		taken = false
		for _, list := range [][][]byte{c.keys, c.args} {
			for _, v := range list {
				taken = taken || len(v) > 0 && v[0] == value[0]
			}
		}
		for _, text := range c.known.sorted {
			taken = taken || text != "" && text[0] == value[0]
		}
		if taken {
			value[0]++
		}
		if value[0] == 0xff {
			break // such a call is none that was recognised: refused as a change
		}
	}
	return value
}
