// The model of one Redis key that a script is run against, and the commands it may call on it.

package commands

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The errors that the model answers, in Redis's words.
const (
	errWrongType  = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNotInteger = "ERR value is not an integer or out of range"
	errArguments  = "ERR Lua redis lib command arguments must be strings or integers"
	errExpireTime = "ERR invalid expire time"
)

// word is one text as the script meets it: a symbol, which it can compare and pass on but never look into, or plain text.
// Two words are the same text exactly if they are ==.
type word struct {
	symbol symbol
	text   string
}

// symbol stands for a text that is unlike every other text the script can hold; 0 is none.
type symbol int

// modelKey is the one key of the model. Every other key is out of bounds.
type modelKey struct {
	exists    bool
	wrongType bool
	value     word
	remaining int64  // milliseconds; noExpiry
	renewed   symbol // the expiry was set from this symbol, so that remaining is not known
}

const noExpiry = -1

// effectKind is a change of the key.
type effectKind int

const (
	effectDelete effectKind = iota + 1
	effectExpire            // the key got a new expiry
	effectPast              // the key got an expiry that has passed, which deletes it
)

func (k effectKind) String() string {
	switch k {
	case effectDelete:
		return "deletes the key"
	case effectExpire:
		return "sets an expiry"
	default:
		return "sets an expiry that has passed"
	}
}

// effect is one change that a run made. Calls that change nothing (DEL of a missing key) leave none: what counts is what
// happens to the data.
type effect struct {
	kind    effectKind
	from    symbol // effectExpire: the symbol that was passed as the amount, as it stood
	amount  int64  // effectExpire, from == 0: the new remaining time in milliseconds
	seconds bool   // effectExpire: given in seconds
}

// answer is a reply or a Lua value on its way to be one. Comparable, unlike Reply.
type answer struct {
	kind ReplyKind
	n    int64
	text word // a symbol only in ReplyBulk
}

// do carries out one command on the model. A refused command (why) ends the run for good; an error answer is the script's to
// handle. peeked is a symbol whose text the model would have to know.
func (r *run) do(args []word) (reply answer, why string, peeked symbol) {
	verb := args[0]
	if verb.symbol != 0 {
		return answer{}, "calls a command that it is given as an argument", 0
	}
	name := strings.ToUpper(verb.text)
	arity := 2
	switch name {
	case "PEXPIRE", "EXPIRE":
		arity = 3
	case "GET", "DEL", "UNLINK", "EXISTS", "PTTL", "TTL":
	default:
		return answer{}, "calls " + quotedVerb(name), 0
	}
	if len(args) != arity {
		return answer{}, fmt.Sprintf("calls %s with %d arguments", name, len(args)-1), 0
	}
	if why := r.touch(args[1]); why != "" {
		return answer{}, why, 0
	}
	switch name {
	case "GET":
		return r.get(), "", 0
	case "DEL", "UNLINK":
		return r.del(), "", 0
	case "EXISTS":
		return yesNo(r.key.exists), "", 0
	case "PTTL", "TTL":
		return r.ttl(name == "TTL")
	default:
		return r.expire(args[2], name == "EXPIRE"), "", 0
	}
}

// touch allows the key that the state describes: the first that the script names, which must be one of KEYS.
func (r *run) touch(key word) string {
	switch {
	case !r.declared(key):
		return "uses a key that is not in KEYS"
	case r.touched && r.name != key:
		return "uses two keys"
	}
	r.touched, r.name = true, key
	return ""
}

func (r *run) get() answer {
	switch {
	case !r.key.exists:
		return answer{kind: ReplyNil}
	case r.key.wrongType:
		return answer{kind: ReplyError, text: word{text: errWrongType}}
	}
	return answer{kind: ReplyBulk, text: r.key.value}
}

func (r *run) del() answer {
	if !r.key.exists {
		return yesNo(false)
	}
	r.key = modelKey{}
	r.effects = append(r.effects, effect{kind: effectDelete})
	return yesNo(true)
}

// ttl rounds seconds as Redis does.
func (r *run) ttl(seconds bool) (answer, string, symbol) {
	n := r.key.remaining
	switch {
	case !r.key.exists:
		n = -2
	case r.key.renewed != 0:
		return answer{}, "", r.key.renewed
	case n != noExpiry && seconds:
		n = (n + 500) / 1000
	}
	return answer{kind: ReplyInt, n: n}, "", 0
}

func (r *run) expire(amount word, seconds bool) answer {
	e := effect{kind: effectExpire, from: amount.symbol, seconds: seconds}
	if amount.symbol == 0 {
		n, err := strconv.ParseInt(amount.text, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != amount.text {
			return answer{kind: ReplyError, text: word{text: errNotInteger}}
		}
		if seconds {
			if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
				return answer{kind: ReplyError, text: word{text: errExpireTime}}
			}
			n *= 1000
		}
		e.amount = n
	}
	if !r.key.exists {
		return yesNo(false)
	}
	if e.from == 0 && e.amount <= 0 {
		e.kind = effectPast
		r.key = modelKey{}
	} else {
		r.key.remaining, r.key.renewed = e.amount, e.from
	}
	r.effects = append(r.effects, e)
	return yesNo(true)
}

func yesNo(yes bool) answer {
	if yes {
		return answer{kind: ReplyInt, n: 1}
	}
	return answer{kind: ReplyInt}
}

// quotedVerb shows a command's name in an error: as it is when it looks like one.
func quotedVerb(name string) string {
	for _, c := range name {
		if (c < 'A' || c > 'Z') && c != '.' && c != '_' {
			return quoted(name)
		}
	}
	if name == "" {
		return `""`
	}
	return clip(name)
}
