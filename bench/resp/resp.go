// Package resp is the little of the Redis protocol that a load generator and a starter of servers need: writing
// commands, and reading replies of RESP2.
//
// It is ours and not a client library's on purpose: bench knows only the wire, so it must not agree with redlockd
// about a mistake by sharing the code that makes it.
package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Limits on what a server may make us keep. The servers are ours, but a broken one must end as an error and not as
// a bench that ate the machine.
const (
	MaxBulk  = 16 << 20 // bytes in one bulk; INFO and COMMAND DOCS stay far below
	MaxArray = 1 << 20  // elements in one array
	MaxDepth = 8        // arrays within arrays
)

// Kind is the first byte of a reply.
type Kind byte

// The five kinds of RESP2. A null bulk or null array keeps its kind and has Null set.
const (
	Simple  Kind = '+'
	Error   Kind = '-'
	Integer Kind = ':'
	Bulk    Kind = '$'
	Array   Kind = '*'
)

// Reply is one whole reply.
type Reply struct {
	Kind  Kind
	Null  bool
	Text  string // simple, error, integer as written, bulk
	Items []Reply
}

// String shows a reply as redis-cli would, on one line.
func (r Reply) String() string {
	switch {
	case r.Null:
		return "(nil)"
	case r.Kind == Error:
		return "(error) " + r.Text
	case r.Kind == Integer:
		return "(integer) " + r.Text
	case r.Kind == Array:
		parts := make([]string, len(r.Items))
		for i, item := range r.Items {
			parts[i] = item.String()
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return strconv.Quote(r.Text)
}

// AppendCommand appends one command to dst.
func AppendCommand(dst []byte, args ...string) []byte {
	dst = append(dst, '*')
	dst = strconv.AppendInt(dst, int64(len(args)), 10)
	dst = append(dst, '\r', '\n')
	for _, arg := range args {
		dst = append(dst, '$')
		dst = strconv.AppendInt(dst, int64(len(arg)), 10)
		dst = append(dst, '\r', '\n')
		dst = append(dst, arg...)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

// Read reads one reply. After an error the stream's place is unknown and the connection is of no more use.
func Read(r *bufio.Reader) (Reply, error) { return read(r, 0) }

func read(r *bufio.Reader, depth int) (Reply, error) {
	if depth > MaxDepth {
		return Reply{}, errors.New("resp: arrays nested too deep")
	}
	line, err := readLine(r)
	if err != nil {
		return Reply{}, err
	}
	kind, rest := Kind(line[0]), line[1:]
	switch kind {
	case Simple, Error:
		return Reply{Kind: kind, Text: rest}, nil
	case Integer:
		if _, err := strconv.ParseInt(rest, 10, 64); err != nil {
			return Reply{}, fmt.Errorf("resp: not an integer: %q", line)
		}
		return Reply{Kind: kind, Text: rest}, nil
	case Bulk:
		return readBulk(r, rest)
	case Array:
		return readArray(r, rest, depth)
	}
	return Reply{}, fmt.Errorf("resp: a reply cannot begin with %q", line)
}

// readLine reads up to CR LF and returns what stands before, at least one byte.
func readLine(r *bufio.Reader) (string, error) {
	raw, err := r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) && len(raw) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return "", err
	}
	if len(raw) < 3 || raw[len(raw)-2] != '\r' {
		return "", fmt.Errorf("resp: bad line %q", raw)
	}
	return string(raw[:len(raw)-2]), nil
}

// length reads the number after $ or *; -1 is null.
func length(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 || n > limit {
		return 0, fmt.Errorf("resp: bad length %q", text)
	}
	return n, nil
}

func readBulk(r *bufio.Reader, size string) (Reply, error) {
	n, err := length(size, MaxBulk)
	if err != nil {
		return Reply{}, err
	}
	if n < 0 {
		return Reply{Kind: Bulk, Null: true}, nil
	}
	body := make([]byte, n+2)
	if _, err := io.ReadFull(r, body); err != nil {
		return Reply{}, midway(err)
	}
	if body[n] != '\r' || body[n+1] != '\n' {
		return Reply{}, errors.New("resp: bulk without its CR LF")
	}
	return Reply{Kind: Bulk, Text: string(body[:n])}, nil
}

func readArray(r *bufio.Reader, size string, depth int) (Reply, error) {
	n, err := length(size, MaxArray)
	if err != nil {
		return Reply{}, err
	}
	if n < 0 {
		return Reply{Kind: Array, Null: true}, nil
	}
	reply := Reply{Kind: Array}
	for range n {
		item, err := read(r, depth+1)
		if err != nil {
			return Reply{}, midway(err)
		}
		reply.Items = append(reply.Items, item)
	}
	return reply, nil
}

// midway says that the stream ended inside a reply.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Do opens a connection, asks one thing, and closes it again. An error reply is an error.
func Do(addr string, timeout time.Duration, args ...string) (Reply, error) {
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return Reply{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return Reply{}, err
	}
	if _, err := conn.Write(AppendCommand(nil, args...)); err != nil {
		return Reply{}, err
	}
	reply, err := Read(bufio.NewReader(conn))
	if err != nil {
		return Reply{}, fmt.Errorf("%s to %s: %w", args[0], addr, err)
	}
	if reply.Kind == Error {
		return reply, fmt.Errorf("%s to %s: %s", args[0], addr, reply.Text)
	}
	return reply, nil
}
