package backend

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

// command is a request as redigo sends it. A script is called by its hash; where
// the node has lost it, body is sent in the hash's place.
type command struct {
	name string
	args []any
	body *script
}

// Encode fills in r.Wire, once for all nodes.
func Encode(r *quorum.Request) {
	if r.Op != quorum.TakeBack { // it depends on when it is told
		c := encode(r, 0)
		r.Wire = &c
	}
}

// encode makes the command of a request that is sent at now.
func encode(r *quorum.Request, now time.Duration) command {
	switch r.Op {
	case quorum.Take: // R5: one atomic command
		return command{name: "SET", args: []any{r.Key, r.Token, nx, px, millis(r.Life)}}
	case quorum.Overwrite:
		c := command{name: "SET", args: []any{r.Key, r.Token, px, millis(r.Life)}}
		if r.Existing {
			c.args = append(c.args, xx)
		}
		return c
	case quorum.Release:
		return run(release, r.Key, r.Token)
	case quorum.Extend:
		if r.Add {
			return run(extend, r.Key, r.Token, millis(r.Life), "add", millis(r.Cap))
		}
		return run(extend, r.Key, r.Token, millis(r.Life))
	case quorum.TakeBack:
		return run(takeBack, r.Key, r.Token, millis(r.Most(now)))
	case quorum.Get:
		return command{name: "GET", args: []any{r.Key}}
	case quorum.Remaining:
		return run(remaining, r.Key)
	case quorum.Delete:
		return command{name: "DEL", args: anys(r.Keys)}
	case quorum.Exists:
		return command{name: "EXISTS", args: anys(r.Keys)}
	case quorum.Size:
		return command{name: "DBSIZE"}
	case quorum.Expire:
		return command{name: "PEXPIRE", args: []any{r.Key, millis(r.Life)}}
	default:
		panic(fmt.Sprintf("backend: no command for %v", r.Op))
	}
}

// Boxed once, not once a request.
var nx, xx, px any = "NX", "XX", "PX"

func millis(d time.Duration) any { return d.Milliseconds() }

func anys(keys [][]byte) []any {
	args := make([]any, len(keys))
	for i, k := range keys {
		args[i] = k
	}
	return args
}

func run(s *script, key []byte, args ...any) command {
	all := make([]any, 0, 3+len(args))
	all = append(all, s.hash, 1, key)
	return command{name: "EVALSHA", args: append(all, args...), body: s}
}

// decode turns a node's reply into its answer. Whatever is not the expected
// acceptance or refusal is Unknown (R13).
func decode(r *quorum.Request, reply any, err error) quorum.Answer {
	if err != nil {
		return quorum.Answer{Err: err}
	}
	switch r.Op {
	case quorum.Take, quorum.Overwrite:
		return decodeSet(reply)
	case quorum.Get:
		return decodeValue(reply)
	case quorum.Remaining:
		return decodeRemaining(reply)
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
		return quorum.Answer{Vote: quorum.Yes, Value: v}
	default:
		return strange(reply)
	}
}

func decodeRemaining(reply any) quorum.Answer {
	if reply == nil {
		return quorum.Answer{Vote: quorum.No}
	}
	pair, _ := reply.([]any)
	if len(pair) != 2 {
		return strange(reply)
	}
	value, okValue := pair[0].([]byte)
	left, okLeft := pair[1].(int64)
	if !okValue || !okLeft {
		return strange(reply)
	}
	if left < 0 {
		left = quorum.Forever
	}
	return quorum.Answer{Vote: quorum.Yes, Value: value, Number: left}
}

func decodeNumber(op quorum.Op, reply any) quorum.Answer {
	n, ok := reply.(int64)
	if !ok {
		return strange(reply)
	}
	accepted := n > 0
	if op == quorum.Release || op == quorum.Size {
		accepted = n >= 0 // a remaining time may be less than a millisecond
	}
	if accepted {
		return quorum.Answer{Vote: quorum.Yes, Number: n}
	}
	return quorum.Answer{Vote: quorum.No, Number: n}
}

func strange(reply any) quorum.Answer {
	return quorum.Answer{Err: fmt.Errorf("unexpected reply of type %T", reply)}
}

// noScript says that the node has lost a script of ours (SCRIPT FLUSH).
func noScript(err error) bool {
	var e redis.Error
	return errors.As(err, &e) && strings.HasPrefix(string(e), "NOSCRIPT")
}

// withBody is the command again, with the text of its script in place of the hash.
func (c command) withBody() command {
	args := append([]any{c.body.text}, c.args[1:]...)
	return command{name: "EVAL", args: args}
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
