// Scripts that tell others about it: PUBLISH beside the change, for clients that wait for a message instead of polling. What they tell
// reaches the clients of this redlockd, and nobody else.

package commands

import "slices"

// Message is published when a command has been granted.
type Message struct{ Channel, Text []byte }

// maxMessages is how many one script may publish.
const maxMessages = 4

// message is one that a run has published.
type message struct{ channel, text word }

// publish answers how many have heard it. That is not known here: the answer can be dropped, and nothing else.
func (r *run) publish(args []word) answer {
	m := message{args[0], args[1]}
	switch {
	case len(r.told) == maxMessages:
		return r.refuse("publishes too many messages")
	case r.of == nil:
		r.told = append(r.told, m)
		return yesNo(false)
	case m.channel.cut != 0 || m.text.cut != 0 || !r.of.holds(m.channel) || !r.of.holds(m.text):
		return r.refuse("publishes what is none of its arguments or constants")
	}
	r.told = append(r.told, m)
	return answer{kind: ReplyBulk, text: word{symbol: audience}}
}

func isAudience(w word) bool { return w.symbol == audience }

// tells is the law of messages: the same with every change, and none without one.
func (t *trial) tells(r *run) {
	switch {
	case !r.changed() && len(r.told) > 0:
		t.why = "publishes a message without a change"
	case !r.changed():
	case !t.changes:
		t.changes, t.told = true, r.told
	case !slices.Equal(t.told, r.told):
		t.why = "does not always publish the same"
	}
}

// messages are those of a call.
func (sh *shape) messages(w *callWords) (all []Message) {
	for _, m := range sh.told {
		all = append(all, Message{m[0].of(w), m[1].of(w)})
	}
	return all
}
