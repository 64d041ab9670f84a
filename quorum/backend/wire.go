package backend

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// Encode fills in r.Wire, in the room that it may have, once for all nodes. What TakeBack and TopUp look like depends on when they are told.
func Encode(r *quorum.Request) {
	if r.Op == quorum.TakeBack || r.Op == quorum.TopUp {
		r.Wire = nil
	} else {
		r.Wire = encode(r.Wire[:0], r, 0, false)
	}
}

// encode puts a request that is sent at now behind w. whole sends the text of its script, where it has one, in place of the hash.
func encode(w words, r *quorum.Request, now time.Duration, whole bool) words {
	switch {
	case r.If != quorum.Always || r.Old:
		return w.call(change, whole, 1, 5).bytes(r.Key).text(conditions[r.If]).bytes(r.Was).text(actions[r.Op]).bytes(r.Token).millis(r.Life)
	case r.Op == quorum.Take && (len(r.Keys) > 0 || r.Own != quorum.OwnRefused):
		return w.many(takeMany, whole, r, 3).millis(r.Life).text(owns[r.Own]).int(int64(r.Prefix))
	case len(r.Keys) > 0 && r.Tokens != nil:
		return encodeMany(w, r, now, whole)
	}
	switch r.Op {
	case quorum.Take: // R5: one atomic command
		return w.command(6).text("SET").bytes(r.Key).bytes(r.Token).text("NX").text("PX").millis(r.Life)
	case quorum.Overwrite:
		return w.command(5).text("SET").bytes(r.Key).bytes(r.Token).text("PX").millis(r.Life)
	case quorum.Release:
		if quorum.Planted() == quorum.BugReleaseAnyToken {
			return w.command(2).text("DEL").bytes(r.Key)
		}
		return w.call(release, whole, 1, 1).bytes(r.Key).bytes(r.Token)
	case quorum.Extend:
		switch quorum.Planted() {
		case quorum.BugExtendAnyToken:
			return w.command(3).text("PEXPIRE").bytes(r.Key).millis(r.Life)
		case quorum.BugExtendResurrects:
			return w.call(resurrect, whole, 1, 2).bytes(r.Key).bytes(r.Token).millis(r.Life)
		}
		if r.Add {
			return w.call(extend, whole, 1, 4).bytes(r.Key).bytes(r.Token).millis(r.Life).text("add").millis(r.Cap)
		}
		return w.call(extend, whole, 1, 2).bytes(r.Key).bytes(r.Token).millis(r.Life)
	case quorum.TakeBack:
		if quorum.Planted() == quorum.BugUndoByToken {
			return w.call(release, whole, 1, 1).bytes(r.Key).bytes(r.Token)
		}
		if r.Stamp != 0 {
			return w.many(takeBackMany, whole, r, 3).millis(r.Most(now)).int(r.Stamp).millis(r.Spread)
		}
		return w.call(takeBack, whole, 1, 2).bytes(r.Key).bytes(r.Token).millis(r.Most(now))
	case quorum.TopUp:
		return w.call(topUp, whole, 1, 2).bytes(r.Key).bytes(r.Token).int(max(1, r.Rest(now).Milliseconds()))
	case quorum.Get:
		return w.command(2).text("GET").bytes(r.Key)
	case quorum.Inspect:
		return w.call(inspectKeys, whole, len(r.Keys), 0).each(r.Keys)
	case quorum.Delete:
		return w.command(1 + len(r.Keys)).text("DEL").each(r.Keys)
	case quorum.Exists:
		return w.command(1 + len(r.Keys)).text("EXISTS").each(r.Keys)
	case quorum.Size:
		return w.call(size, whole, 2, 0).text(quorum.MarkKey).text(quorum.TeacherKey)
	case quorum.Expire:
		return w.command(3).text("PEXPIRE").bytes(r.Key).millis(r.Life)
	default:
		panic(fmt.Sprintf("backend: no command for %v", r.Op))
	}
}

// encodeMany is for what is about several locks at once.
func encodeMany(w words, r *quorum.Request, now time.Duration, whole bool) words {
	switch r.Op {
	case quorum.Release:
		if r.Each {
			return w.many(releaseMany, whole, r, 0)
		}
		return w.many(releaseMany, whole, r, 1).text("all")
	case quorum.Extend:
		return w.many(extendMany, whole, r, 1).millis(r.Life)
	case quorum.TakeBack:
		return w.many(takeBackMany, whole, r, 3).millis(r.Most(now)).int(r.Stamp).millis(r.Spread)
	case quorum.TopUp:
		return w.many(topUpMany, whole, r, 1).int(max(1, r.Rest(now).Milliseconds()))
	default:
		panic(fmt.Sprintf("backend: no command for %v of many keys", r.Op))
	}
}

// many begins a script with the keys of r, their tokens, and so many words behind them.
func (w words) many(s *script, whole bool, r *quorum.Request, more int) words {
	if len(r.Keys) == 0 {
		return w.call(s, whole, 1, 1+more).bytes(r.Key).bytes(r.Token)
	}
	return w.call(s, whole, len(r.Keys), len(r.Tokens)+more).each(r.Keys).each(r.Tokens)
}

// What the scripts are told of a request.
var (
	owns       = [...]string{quorum.OwnRefused: ownRefused, quorum.OwnEach: ownEach, quorum.OwnAll: ownAll}
	conditions = [...]string{quorum.Always: "", quorum.IfMissing: "missing", quorum.IfExists: "exists",
		quorum.IfEqual: "equal", quorum.IfNotEqual: "not-equal",
		quorum.IfNoExpiry: "no-expiry", quorum.IfExpiry: "expiry", quorum.IfLater: "later", quorum.IfSooner: "sooner"}
	actions = map[quorum.Op]string{quorum.Overwrite: "set", quorum.Delete: "delete", quorum.Expire: "expire"}
)

// decode turns a node's reply into its answer. Whatever is not the expected
// acceptance or refusal is Unknown (R13).
func decode(r *quorum.Request, reply any, err error) quorum.Answer {
	if err != nil {
		return quorum.Answer{Err: err}
	}
	switch pair, isPair := reply.([]any); {
	case r.Op == quorum.Inspect:
		return decodeSeen(pair, len(r.Keys))
	case isPair:
		return decodePair(r, pair)
	case r.Op == quorum.Take, r.Op == quorum.Overwrite:
		return decodeSet(reply)
	case r.Op == quorum.Get:
		return decodeValue(reply)
	default:
		return decodeNumber(r.Op, reply)
	}
}

func decodeSet(reply any) quorum.Answer {
	switch {
	case reply == nil:
		return quorum.Answer{Vote: quorum.No}
	case reply == "OK":
		return quorum.Answer{Vote: quorum.Yes}
	default:
		return strange(reply)
	}
}

func decodeValue(reply any) quorum.Answer {
	switch v := reply.(type) {
	case nil:
		return quorum.Answer{Vote: quorum.No}
	case []byte:
		if string(v) == quorum.Blocker {
			return quorum.Answer{Err: errBlocked}
		}
		return quorum.Answer{Vote: quorum.Yes, Value: v}
	default:
		return strange(reply)
	}
}

// errBlocked: which of two tokens is alive on the other nodes was not known when the key was copied here (P8). A blocker is
// never shown to anybody (P12).
var errBlocked = errors.New("the key is held by somebody unknown since the node was taught")

// decodeSeen is the reply of inspect: value and remaining time of every key.
func decodeSeen(reply []any, keys int) quorum.Answer {
	if len(reply) != 2*keys {
		return strange(reply)
	}
	a := quorum.Answer{Vote: quorum.Yes, Seen: make([]quorum.Held, keys)}
	for k := range a.Seen {
		value, exists := reply[2*k].([]byte)
		left, ok := reply[2*k+1].(int64)
		switch {
		case !ok, !exists && reply[2*k] != nil:
			return strange(reply)
		case string(value) == quorum.Blocker:
			return quorum.Answer{Err: errBlocked}
		case exists && left < 0:
			left = quorum.Forever
		}
		a.Seen[k] = quorum.Held{Exists: exists, Value: value, Left: left}
	}
	return a
}

// decodePair is the reply of takeMany, of releaseMany, and of change: what was done or found, and something about it.
func decodePair(r *quorum.Request, pair []any) quorum.Answer {
	if len(pair) != 2 {
		return strange(pair)
	}
	n, ok := pair[0].(int64)
	if n == quorum.Blocked {
		return quorum.Answer{Err: errBlocked}
	}
	if r.If != quorum.Always || r.Old {
		old, _ := pair[1].([]byte)
		if !ok || old == nil && pair[1] != nil {
			return strange(pair)
		}
		a := quorum.Answer{Vote: quorum.No, Value: old}
		if n > 0 {
			a.Vote, a.Number = quorum.Yes, n
		}
		return a
	}
	about, okAbout := pair[1].(int64)
	switch {
	case !ok || !okAbout:
		return strange(pair)
	case r.Op == quorum.Take && n >= 0:
		found := quorum.Missing
		if n > 0 {
			found = quorum.Mine
		}
		return quorum.Answer{Vote: quorum.Yes, Number: found, Stamp: about}
	case r.Op == quorum.Release && n > 0:
		return quorum.Answer{Vote: quorum.Yes, Number: n, Left: about}
	default:
		return quorum.Answer{Vote: quorum.No, Number: n}
	}
}

func decodeNumber(op quorum.Op, reply any) quorum.Answer {
	n, ok := reply.(int64)
	switch {
	case !ok:
		return strange(reply)
	case n == quorum.Blocked && (op == quorum.Release || op == quorum.Extend):
		return quorum.Answer{Err: errBlocked}
	case op == quorum.Release && n >= 0: // a remaining time may be less than a millisecond
		return quorum.Answer{Vote: quorum.Yes, Left: n}
	case n > 0, op == quorum.Size && n == 0:
		return quorum.Answer{Vote: quorum.Yes, Number: n}
	default:
		return quorum.Answer{Vote: quorum.No, Number: n}
	}
}

// stamp tells when the keys expire that a take has set, unless it may have found its token there: it was carried out before the
// node's clock was read behind it, but not before it was sent. Of many keys the node has told an instant itself, but one may have been set
// later than the other, if the node did not get the processor in between.
func stamp(a *quorum.Answer, req *quorum.Request, clock quorum.Reading) {
	if req.Op == quorum.Take && a.Vote == quorum.Yes && req.Own == quorum.OwnRefused && clock.Node > 0 {
		a.Stamp = (clock.Node + req.Life).Milliseconds()
		a.Spread = clock.Received - clock.Sent
	}
}

// lookOf reads the replies to TIME and to GET of the mark.
func lookOf(replies []reply, trust quorum.Trust, sent, received time.Duration) quorum.Look {
	look := quorum.Look{Trust: trust}
	clock, mark := replies[0], replies[1]
	for _, r := range replies[:2] {
		if look.Err == nil && r.err != nil {
			look.Err = fmt.Errorf("its mark and clock cannot be read: %w", r.err)
		}
	}
	if look.Err != nil {
		return look
	}
	if m, ok := mark.value.([]byte); ok {
		look.Mark = string(m)
	}
	pair, _ := clock.value.([]any)
	look.Clock, look.Err = readingOf(pair, sent, received)
	return look
}

// readingOf is seconds and microseconds since 1970, as TIME answers them.
func readingOf(pair []any, sent, received time.Duration) (quorum.Reading, error) {
	if len(pair) == 2 {
		seconds, err1 := redis.Int64(pair[0], nil)
		micros, err2 := redis.Int64(pair[1], nil)
		if err1 == nil && err2 == nil && seconds >= 0 && seconds < 1<<33 && micros >= 0 && micros < 1e6 {
			node := time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond
			return quorum.Reading{Sent: sent, Received: received, Node: node}, nil
		}
	}
	return quorum.Reading{}, errors.New("its clock cannot be read")
}

func strange(reply any) quorum.Answer {
	return quorum.Answer{Err: fmt.Errorf("unexpected reply of type %T", reply)}
}

// noScript says that the node has lost a script of ours (SCRIPT FLUSH).
func noScript(err error) bool {
	var e redis.Error
	return errors.As(err, &e) && strings.HasPrefix(string(e), "NOSCRIPT")
}

// infoField is a line of INFO, empty if it is not there.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
