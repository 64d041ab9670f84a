// The commands that a script may call, carried out on the model.

package commands

import (
	"fmt"
	"math"
	"strings"
)

// The errors that the model answers, in Redis's words.
const (
	errWrongType  = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNotInteger = string(errInteger)
	errArguments  = "ERR Lua redis lib command arguments must be strings or integers"
	errDatabase   = "ERR DB index is out of range"
)

// databases is how many SELECT may choose from, as in Redis's own default.
const databases = 16

// verb is one command. A refused one (run.why) ends the run for good, as one does that would have to know the text behind a
// symbol (run.peeked); an error answer is the script's to handle.
type verb struct {
	least, most int // arguments behind the name; most < 0: any number
	writes      bool
	do          func(*run, []word) answer
}

var verbs map[string]verb

func init() {
	reads := func(least, most int, do func(*run, []word) answer) verb { return verb{least, most, false, do} }
	writes := func(least, most int, do func(*run, []word) answer) verb { return verb{least, most, true, do} }
	verbs = map[string]verb{
		"GET": reads(1, 1, (*run).get), "MGET": reads(1, -1, (*run).mget), "GETRANGE": reads(3, 3, (*run).getRange),
		"EXISTS": reads(1, -1, (*run).exists), "TYPE": reads(1, 1, (*run).typeOf),
		"PTTL": reads(1, 1, timeLeft(false)), "TTL": reads(1, 1, timeLeft(true)), "SELECT": reads(1, 1, (*run).choose),
		"SET": writes(2, -1, (*run).set), "SETNX": writes(2, 2, (*run).setNX),
		"SETEX": writes(3, 3, setFor("EX")), "PSETEX": writes(3, 3, setFor("PX")),
		"MSET": writes(2, -1, (*run).mset), "MSETNX": writes(2, -1, (*run).msetNX),
		"GETSET": writes(2, 2, (*run).getSet), "GETDEL": writes(1, 1, (*run).getDel),
		"DEL": writes(1, -1, (*run).del), "UNLINK": writes(1, -1, (*run).del),
		"PEXPIRE": writes(2, 2, expireIn("PX")), "EXPIRE": writes(2, 2, expireIn("EX")),
		"PEXPIREAT": writes(2, 2, expireIn("PXAT")), "EXPIREAT": writes(2, 2, expireIn("EXAT")),
		"PERSIST": writes(1, 1, (*run).persist), "PUBLISH": writes(2, 2, (*run).publish),
	}
}

// do carries out one command.
func (r *run) do(args []word) answer {
	if args[0].symbol != 0 {
		return r.refuse("calls a command that it is given as an argument")
	}
	name := strings.ToUpper(args[0].text)
	v, ok := verbs[name]
	if !ok {
		return r.refuse("calls " + quotedVerb(name))
	}
	if n := len(args) - 1; n < v.least || v.most >= 0 && n > v.most {
		return r.refuse(fmt.Sprintf("calls %s with %d arguments", name, n))
	}
	return v.do(r, args[1:])
}

func (r *run) get(args []word) answer {
	k := r.key(args[0])
	if k.kind != "" {
		return failure(errWrongType)
	}
	return k.held()
}

// held is the value, or nil; also nil, as MGET has it, if there is none to give.
func (k *modelKey) held() answer {
	if !k.exists || k.kind != "" {
		return answer{kind: ReplyNil}
	}
	return answer{kind: ReplyBulk, text: k.value}
}

func (r *run) mget(args []word) answer {
	all := answer{kind: ReplyArray}
	for _, name := range args {
		all.items = append(all.items, r.key(name).held())
	}
	return all
}

// getRange knows only how a value begins.
func (r *run) getRange(args []word) answer {
	k := r.key(args[0])
	start, end := r.integer(args[1]), r.integer(args[2])
	switch {
	case r.why != "" || r.peeked != 0:
		return answer{}
	case start != 0 || end < 0 || end >= maxCut:
		return r.refuse("reads another part of the value than its beginning")
	case k.kind != "":
		return failure(errWrongType)
	case !k.exists:
		return answer{kind: ReplyBulk}
	}
	if r.of != nil && !r.of.cuts(int(end)+1) {
		return r.refuse("compares two lengths of the value")
	}
	return answer{kind: ReplyBulk, text: r.cutValue(k.value, int(end)+1)}
}

// integer reads an argument that decides what the command does.
func (r *run) integer(w word) int64 {
	if w.symbol != 0 {
		r.peeked = w.symbol
		return 0
	}
	n, err := parseInt([]byte(w.text))
	if err != nil {
		r.refuse("gives a command " + quoted(w.text) + " for a number")
	}
	return n
}

func (r *run) exists(args []word) answer {
	var n int64
	for _, name := range args {
		if r.key(name).exists {
			n++
		}
	}
	return answer{kind: ReplyInt, n: n}
}

func (r *run) typeOf(args []word) answer {
	kind := "none"
	if k := r.key(args[0]); k.kind != "" {
		kind = k.kind
	} else if k.exists {
		kind = "string"
	}
	return answer{kind: ReplyStatus, text: word{text: kind}}
}

func timeLeft(seconds bool) func(*run, []word) answer {
	return func(r *run, args []word) answer {
		k := r.key(args[0])
		n := k.left
		r.timed = true
		switch {
		case !k.exists:
			n = -2
		case k.life.from != 0:
			r.peeked = k.life.from
		case k.life.clock:
			return r.refuse("asks for the remaining time of an expiry that it has set by the clock")
		case n != noExpiry && seconds && r.of == nil:
			n /= 1000 // never a promise too long, as our own TTL
		case n != noExpiry && seconds:
			n = (n + 500) / 1000
		}
		return answer{kind: ReplyInt, n: n}
	}
}

// choose is SELECT: it holds until the script ends.
func (r *run) choose(args []word) answer {
	if args[0].symbol != 0 {
		r.peeked = args[0].symbol
		return answer{}
	}
	n, err := parseInt([]byte(args[0].text))
	switch {
	case err != nil:
		return failure(errNotInteger)
	case n < 0 || n >= databases:
		return failure(errDatabase)
	}
	r.db = int(n)
	return statusOK
}

var statusOK = answer{kind: ReplyStatus, text: word{text: "OK"}}

func (r *run) set(args []word) answer {
	var nx, xx, get bool
	l, unit := life{given: true, none: true}, ""
	for i := 2; i < len(args); i++ {
		if args[i].symbol != 0 {
			r.peeked = args[i].symbol
			return answer{}
		}
		switch option := strings.ToUpper(args[i].text); option {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "GET":
			get = true
		case "PX", "EX", "PXAT", "EXAT":
			if unit != "" || i+1 == len(args) {
				return r.refuse("calls SET with an option that does not fit")
			}
			i++
			var failed answer
			if l, failed = r.life(args[i], option, "set"); failed.kind != ReplyNil {
				return failed
			}
			unit = option
		default:
			return r.refuse("calls SET with " + quotedVerb(option))
		}
	}
	if nx && xx {
		return r.refuse("calls SET with an option that does not fit")
	}
	k := r.key(args[0])
	if get && k.kind != "" {
		return failure(errWrongType)
	}
	old := k.held()
	set := !(nx && k.exists || xx && !k.exists)
	if set {
		r.put(args[0], args[1], l)
	}
	switch {
	case get:
		return old
	case set:
		return statusOK
	default:
		return answer{kind: ReplyNil}
	}
}

func (r *run) setNX(args []word) answer {
	if r.key(args[0]).exists {
		return yesNo(false)
	}
	r.put(args[0], args[1], life{given: true, none: true})
	return yesNo(true)
}

func setFor(unit string) func(*run, []word) answer {
	name := map[string]string{"EX": "setex", "PX": "psetex"}[unit]
	return func(r *run, args []word) answer {
		l, failed := r.life(args[1], unit, name)
		if failed.kind != ReplyNil {
			return failed
		}
		r.put(args[0], args[2], l)
		return statusOK
	}
}

func (r *run) mset(args []word) answer {
	if len(args)%2 != 0 {
		return r.refuse("calls MSET with a key without a value")
	}
	for i := 0; i < len(args); i += 2 {
		r.put(args[i], args[i+1], life{given: true, none: true})
	}
	return statusOK
}

func (r *run) msetNX(args []word) answer {
	for i := 0; i < len(args); i += 2 {
		if r.key(args[i]).exists {
			return yesNo(false)
		}
	}
	r.mset(args)
	return yesNo(true)
}

func (r *run) getSet(args []word) answer {
	k := r.key(args[0])
	if k.kind != "" {
		return failure(errWrongType)
	}
	old := k.held()
	r.put(args[0], args[1], life{given: true, none: true})
	return old
}

func (r *run) getDel(args []word) answer {
	k := r.key(args[0])
	if k.kind != "" {
		return failure(errWrongType)
	}
	old := k.held()
	*k = modelKey{}
	return old
}

func (r *run) del(args []word) answer {
	n := int64(0)
	for _, name := range args {
		if k := r.key(name); k.exists {
			*k = modelKey{}
			n++
		}
	}
	return answer{kind: ReplyInt, n: n}
}

func expireIn(unit string) func(*run, []word) answer {
	name := map[string]string{"EX": "expire", "PX": "pexpire", "EXAT": "expireat", "PXAT": "pexpireat"}[unit]
	return func(r *run, args []word) answer {
		l, failed := r.life(args[1], unit, name)
		if failed.kind != ReplyNil {
			return failed
		}
		k := r.key(args[0])
		if !k.exists {
			return yesNo(false)
		}
		if l.from == 0 && l.amount <= 0 {
			*k, r.past = modelKey{}, true
		} else {
			k.live(l)
		}
		return yesNo(true)
	}
}

func (r *run) persist(args []word) answer {
	k := r.key(args[0])
	r.timed = true
	if !k.exists || k.life.none || !k.life.given && k.left == noExpiry {
		return yesNo(false)
	}
	k.live(life{given: true, none: true})
	return yesNo(true)
}

// life reads an expiry. Of what is given as a symbol only the unit is known.
func (r *run) life(amount word, unit, verb string) (l life, failed answer) {
	seconds, clock := unit[0] == 'E', strings.HasSuffix(unit, "AT")
	if amount.cut != 0 || amount.symbol > maxWords {
		return l, r.refuse("takes a value for an expiry")
	}
	if amount.symbol != 0 {
		r.amounts = append(r.amounts, amount.symbol)
		return life{given: true, from: amount.symbol, seconds: seconds, clock: clock}, answer{}
	}
	n, err := parseInt([]byte(amount.text))
	if err != nil {
		return l, failure(errNotInteger)
	}
	// EXPIRE and its kin take what has passed and delete the key.
	if n <= 0 && !strings.Contains(verb, "expire") || seconds && (n > math.MaxInt64/1000 || n < math.MinInt64/1000) {
		return l, failure(string(errExpire(verb)))
	}
	if seconds {
		n *= 1000
	}
	return life{given: true, amount: n, clock: clock}, answer{}
}

func failure(text string) answer { return answer{kind: ReplyError, text: word{text: text}} }

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
