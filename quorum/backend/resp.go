package backend

import (
	"strconv"
	"time"
)

// words builds commands in the nodes' protocol, one behind the other, in a buffer that is used again: no request costs
// an allocation on its way to the nodes.
type words []byte

// command begins one of n words, its name included.
func (w words) command(n int) words { return w.header('*', n) }

func (w words) text(s string) words {
	return append(append(w.header('$', len(s)), s...), '\r', '\n')
}

func (w words) bytes(b []byte) words {
	return append(append(w.header('$', len(b)), b...), '\r', '\n')
}

func (w words) each(list [][]byte) words {
	for _, b := range list {
		w = w.bytes(b)
	}
	return w
}

func (w words) int(n int64) words {
	var room [20]byte
	return w.bytes(strconv.AppendInt(room[:0], n, 10))
}

func (w words) millis(d time.Duration) words { return w.int(d.Milliseconds()) }

// call begins a script of ours with so many keys, and so many words behind them. It is called by its hash; where the node has
// lost it, whole sends its text.
func (w words) call(s *script, whole bool, keys, more int) words {
	w = w.command(3 + keys + more)
	if whole {
		w = w.text("EVAL").text(s.text)
	} else {
		w = w.text("EVALSHA").text(s.hash)
	}
	return w.int(int64(keys))
}

func (w words) header(kind byte, n int) words {
	return append(strconv.AppendInt(append(w, kind), int64(n), 10), '\r', '\n')
}

// commandOf is a command made once.
func commandOf(parts ...string) []byte {
	w := words(nil).command(len(parts))
	for _, s := range parts {
		w = w.text(s)
	}
	return w
}
