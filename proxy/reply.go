package proxy

import (
	"strconv"

	"github.com/tidwall/redcon"

	"redlockd/commands"
	"redlockd/quorum"
)

// reply builds replies in RESP2 or RESP3, whichever the connection speaks.
type reply struct {
	out   []byte
	proto int // 2 or 3
}

func (r *reply) status(s string) { r.out = redcon.AppendString(r.out, s) }
func (r *reply) error(s string)  { r.out = redcon.AppendError(r.out, s) }
func (r *reply) int(n int64)     { r.out = redcon.AppendInt(r.out, n) }
func (r *reply) text(s string)   { r.out = redcon.AppendBulkString(r.out, s) }
func (r *reply) array(n int)     { r.out = redcon.AppendArray(r.out, n) }

// bulk of nothing, which is not the same as of no bytes, is null.
func (r *reply) bulk(b []byte) {
	if b == nil {
		r.null()
		return
	}
	r.out = redcon.AppendBulk(r.out, b)
}

func (r *reply) null() {
	if r.proto == 3 {
		r.out = append(r.out, "_\r\n"...)
	} else {
		r.out = redcon.AppendNull(r.out)
	}
}

func (r *reply) nullArray() {
	if r.proto == 3 {
		r.null()
	} else {
		r.out = append(r.out, "*-1\r\n"...)
	}
}

// bools are integers, as Redis has them here also in RESP3.
func (r *reply) bools(list []bool) {
	r.array(len(list))
	for _, b := range list {
		n := int64(0)
		if b {
			n = 1
		}
		r.int(n)
	}
}

// header begins a map of n pairs, or in RESP2 the flat array of them.
func (r *reply) header(n int) {
	if r.proto == 3 {
		r.prefixed('%', n)
	} else {
		r.array(2 * n)
	}
}

// push begins what comes without having been asked for, n items.
func (r *reply) push(n int) {
	if r.proto == 3 {
		r.prefixed('>', n)
	} else {
		r.array(n)
	}
}

func (r *reply) set(n int) {
	if r.proto == 3 {
		r.prefixed('~', n)
	} else {
		r.array(n)
	}
}

func (r *reply) statuses(list []string) {
	r.set(len(list))
	for _, s := range list {
		r.status(s)
	}
}

// verbatim is text for people: INFO, CLIENT LIST.
func (r *reply) verbatim(s string) {
	if r.proto != 3 {
		r.text(s)
		return
	}
	r.prefixed('=', len(s)+len("txt:"))
	r.out = append(r.out, "txt:"...)
	r.out = append(r.out, s...)
	r.out = append(r.out, "\r\n"...)
}

func (r *reply) prefixed(kind byte, n int) {
	r.out = append(r.out, kind)
	r.out = strconv.AppendInt(r.out, int64(n), 10)
	r.out = append(r.out, "\r\n"...)
}

// computed writes the reply that depends on what the keys hold.
func (r *reply) computed(c *commands.Command, held []quorum.Held) {
	s, err := c.Compute(seen(held))
	if err != nil {
		r.error(err.Error())
		return
	}
	r.script(s, 0)
}

// script writes what a script, or a command that answers like one, would have answered.
func (r *reply) script(s commands.Reply, count int64) {
	switch s.Kind {
	case commands.ReplyCount:
		r.int(count)
	case commands.ReplyNilArray:
		r.nullArray()
	case commands.ReplyArray:
		r.array(len(s.Items))
		for _, item := range s.Items {
			r.script(item, count)
		}
	case commands.ReplyInt:
		r.int(s.Int)
	case commands.ReplyStatus:
		r.status(string(s.Text))
	case commands.ReplyBulk:
		r.bulk(s.Text)
	case commands.ReplyError:
		r.error(string(s.Text))
	case commands.ReplyComputed: // by nobody: nil would say something
		r.error("NOQUORUM what the key holds is not known")
	default:
		r.null()
	}
}
