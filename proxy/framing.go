// Framing: cuts what a client sends into whole, valid, bounded commands in canonical RESP form, before redcon sees a byte of it.
package proxy

import (
	"bytes"
	"strconv"
)

// maxHeader bounds a "*count" or "$length" line. No length that could pass has more than ten digits; Redis reads up to 64 KiB
// before it gives up.
const maxHeader = 32

// Kept by a connection between commands: the longest burst that costs no new allocation. More is given back.
const (
	keptBytes = 4096
	keptEnds  = 64
)

// protocolError ends the connection that caused it. The text is Redis's own where Redis has one, because clients and
// operators search for it.
type protocolError struct {
	text   string
	silent bool // the client is told nothing: it does not speak our protocol
}

func (e *protocolError) Error() string { return e.text }

var (
	errInlineSize   = &protocolError{text: "Protocol error: too big inline request (above max-inline)"}
	errInlineArgs   = &protocolError{text: "Protocol error: too big inline request (above max-args)"}
	errInlineBulk   = &protocolError{text: "Protocol error: too big inline request (above max-bulk)"}
	errInlineTotal  = &protocolError{text: "Protocol error: too big inline request (above max-command)"}
	errInlineQuotes = &protocolError{text: "Protocol error: unbalanced quotes in request"}
	errCountLine    = &protocolError{text: "Protocol error: too big mbulk count string"}
	errCount        = &protocolError{text: "Protocol error: invalid multibulk length"}
	errCountArgs    = &protocolError{text: "Protocol error: invalid multibulk length (above max-args)"}
	errLengthLine   = &protocolError{text: "Protocol error: too big bulk count string"}
	errLength       = &protocolError{text: "Protocol error: invalid bulk length"}
	errLengthBulk   = &protocolError{text: "Protocol error: invalid bulk length (above max-bulk)"}
	errLengthTotal  = &protocolError{text: "Protocol error: invalid bulk length (above max-command)"}

	// Redis waits for ever behind a NUL in an inline line (strchr stops there) and skips the two bytes behind a bulk
	// unread. We refuse both at once: guessing where the next command begins is how requests get smuggled.
	errInlineNUL = &protocolError{text: "Protocol error: NUL byte in inline request"}
	errBulkEnd   = &protocolError{text: "Protocol error: expected CRLF after bulk"}

	// A browser that was talked into sending its form to a Redis port says POST or Host: (Redis's cross-protocol guard).
	errCrossProtocol = &protocolError{text: "Protocol error: possible cross protocol attack", silent: true}
)

func errDollar(got byte) *protocolError {
	shown := string(rune(got))
	if got < ' ' || got > '~' {
		shown = `\x` + strconv.FormatUint(uint64(got>>4), 16) + strconv.FormatUint(uint64(got&15), 16)
	}
	return &protocolError{text: "Protocol error: expected '$', got '" + shown + "'"}
}

// Where the framer stands in the current command.
type frameState uint8

const (
	atStart  frameState = iota // between commands
	inInline                   // a line that does not begin with '*'
	inCount                    // behind '*', up to LF
	atDollar                   // a bulk begins
	inLength                   // behind '$', up to LF
	inBulk                     // bulk data and its CRLF
)

// What a step has come to the end of.
type frameEvent uint8

const (
	unfinished frameEvent = iota
	wholeHeader
	wholeLine // of an inline command, still to be rewritten
	wholeCommand
	nothingAsked // "*0", "*-1", an empty line
)

// framer is a state machine that knows no socket and no clock. Every byte is looked at once, however the bytes are cut. Memory
// grows with the bytes that came, never with the bytes that a header promised, and at most to one half command and what the
// last feed completed: so feed it only when take has nothing left.
type framer struct {
	limits *Limits
	err    *protocolError // final; the commands before it can still be taken

	buf   []byte // canonical bytes. Invariant: 0 <= taken <= start <= len(buf)
	taken int    // buf[:taken] has been handed over
	start int    // buf[start:] is the half command
	ends  []int  // where the whole commands end; ends[next:] are still to be taken
	next  int

	state frameState
	size  int // bytes of the half command so far. Invariant: size <= limits.MaxCommand once a header is complete
	args  int // bulks that it still lacks
	need  int // bytes that the bulk still lacks, its CRLF included

	number    int // of the header line being read; saturates far above every limit
	width     int // its characters so far, sign included
	negative  bool
	afterCR   bool
	malformed bool // not what Redis's string2ll takes: no digits, a leading zero, more than 18 digits

	begun uint64 // commands begun, ever: tells one half command from the next
}

// atBoundary: no half command is held.
func (f *framer) atBoundary() bool { return f.state == atStart }

// feed checks the next bytes of the client. It keeps no reference to them.
func (f *framer) feed(in []byte) {
	f.compact()
	i, from := 0, 0 // in[from:i] is checked but not yet copied
	for i < len(in) && f.err == nil {
		n, event := 0, wholeCommand
		if f.state == atStart {
			n = f.limits.ordinary(in[i:])
		}
		if n == 0 {
			n, event = f.step(in[i:])
		}
		i += n
		if event == unfinished || f.err != nil {
			continue
		}
		f.buf = append(f.buf, in[from:i]...)
		from = i
		f.finish(event)
	}
	if f.err != nil {
		f.buf = f.buf[:f.start]
		return
	}
	f.buf = append(f.buf, in[from:]...)
}

// ordinary is the shortcut that most commands take: the length of the whole command at the front of in. 0 leaves it to the steps, be
// it incomplete, inline, wrong or past a limit: what they decide is not decided here. It looks at a byte once more at most.
func (l *Limits) ordinary(in []byte) int {
	if in[0] != '*' {
		return 0
	}
	count, i := shortNumber(in, 1)
	if count == 0 || count > l.MaxArgs {
		return 0
	}
	for range count {
		if i >= len(in) || in[i] != '$' {
			return 0
		}
		size, data := shortNumber(in, i+1)
		i = data + size + 2
		if data == 0 || size > l.MaxBulk || i > l.MaxCommand || i > len(in) || in[i-2] != '\r' || in[i-1] != '\n' {
			return 0
		}
	}
	return i
}

// shortNumber reads the canonical number of at most six digits at in[i:] and its CRLF, and returns where they end. Anything else gives 0, 0.
func shortNumber(in []byte, i int) (number, end int) {
	for first := i; i < len(in) && i-first < 7; i++ {
		digit := in[i] - '0'
		switch {
		case digit <= 9 && (number > 0 || i == first):
			number = number*10 + int(digit)
		case in[i] == '\r' && i > first && i+1 < len(in) && in[i+1] == '\n':
			return number, i + 2
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// finish closes the command that ends at the end of buf.
func (f *framer) finish(event frameEvent) {
	if event == wholeLine {
		event = f.rewriteInline()
	}
	if event == wholeCommand {
		f.ends = append(f.ends, len(f.buf))
	} else {
		f.buf = f.buf[:f.start]
	}
	f.start = len(f.buf)
	f.state = atStart
	f.size = 0
}

// step consumes at least one byte of in, which is not empty.
func (f *framer) step(in []byte) (n int, event frameEvent) {
	switch f.state {
	case atStart:
		f.begun++
		if in[0] != '*' {
			f.state = inInline
			return 0, unfinished
		}
		f.state = inCount
		f.beginNumber()
		n = 1
	case inInline:
		n, event = f.stepInline(in)
	case inCount, inLength:
		n, event = f.stepNumber(in)
	case atDollar:
		if in[0] != '$' {
			f.err = errDollar(in[0])
			return 1, unfinished
		}
		f.state = inLength
		f.beginNumber()
		n = 1
	case inBulk:
		n, event = f.stepBulk(in)
	}
	f.size += n
	if event == wholeHeader {
		event = f.endNumber()
	}
	return n, event
}

func (f *framer) stepInline(in []byte) (int, frameEvent) {
	n := bytes.IndexByte(in, '\n')
	event := wholeLine
	if n < 0 {
		n, event = len(in), unfinished
	}
	room := f.limits.MaxInline + 1 - f.size // + 1: the CR, looked at again in rewriteInline
	if bytes.IndexByte(in[:min(n, room+1)], 0) >= 0 {
		f.err = errInlineNUL
	} else if n > room {
		f.err = errInlineSize
	}
	if event == wholeLine {
		n++
	}
	return n, event
}

func (f *framer) beginNumber() {
	f.number, f.width, f.negative, f.afterCR, f.malformed = 0, 0, false, false, false
}

// stepNumber reads a header up to its LF. Anything but digits behind an optional minus fails at once, without waiting for the
// line to end.
func (f *framer) stepNumber(in []byte) (int, frameEvent) {
	for i, c := range in {
		switch {
		case f.afterCR:
			if c != '\n' {
				return i + 1, f.badNumber()
			}
			return i + 1, wholeHeader
		case c-'0' <= 9:
			if f.width > 0 && f.number == 0 || f.width >= 18 {
				f.malformed = true
			} else {
				f.number = f.number*10 + int(c-'0')
			}
			f.width++
		case c == '\r':
			f.afterCR = true
		case c == '-' && f.width == 0 && !f.negative:
			f.negative = true
		default:
			return i + 1, f.badNumber()
		}
		if f.width > maxHeader {
			f.err = errLengthLine
			if f.state == inCount {
				f.err = errCountLine
			}
			return i + 1, unfinished
		}
	}
	return len(in), unfinished
}

func (f *framer) badNumber() frameEvent {
	f.err = errLength
	if f.state == inCount {
		f.err = errCount
	}
	return unfinished
}

// endNumber decides on a complete header. Here, before any of the data, every limit is applied.
func (f *framer) endNumber() frameEvent {
	if f.malformed || f.width == 0 || f.negative && f.number == 0 {
		return f.badNumber()
	}
	if f.state == inCount {
		if f.negative || f.number == 0 {
			return nothingAsked
		}
		if f.number > f.limits.MaxArgs {
			f.err = errCountArgs
		}
		f.args = f.number
		f.state = atDollar
		return unfinished
	}
	switch {
	case f.negative:
		return f.badNumber()
	case f.number > f.limits.MaxBulk:
		f.err = errLengthBulk
	case f.size+f.number+2 > f.limits.MaxCommand:
		f.err = errLengthTotal
	}
	f.need = f.number + 2
	f.state = inBulk
	return unfinished
}

func (f *framer) stepBulk(in []byte) (int, frameEvent) {
	n := min(len(in), f.need)
	before := f.need
	f.need -= n
	// The CR is byte need-2 and the LF byte need-1 of what was lacking, if they came with this piece.
	if before >= 2 && f.need <= 1 && in[before-2] != '\r' || f.need == 0 && in[before-1] != '\n' {
		f.err = errBulkEnd
		return n, unfinished
	}
	if f.need > 0 {
		return n, unfinished
	}
	f.args--
	if f.args > 0 {
		f.state = atDollar
		return n, unfinished
	}
	return n, wholeCommand
}

// take copies whole commands into p, at most MaxPipeline of them, and returns the bytes. Only a command that is longer than p
// is split: then the next takes give the rest of it, without any need to feed.
func (f *framer) take(p []byte) int {
	n := 0
	for count := 0; f.next < len(f.ends) && count < f.limits.MaxPipeline; count++ {
		end := f.ends[f.next] - f.taken
		if end > len(p) {
			if n == 0 {
				n = len(p)
			}
			break
		}
		n = end
		f.next++
	}
	copy(p, f.buf[f.taken:f.taken+n])
	f.taken += n
	if f.next == len(f.ends) && f.taken == len(f.buf) {
		f.reset()
	}
	return n
}

// reset forgets what was taken, and gives big memory back.
func (f *framer) reset() {
	f.taken, f.start, f.next = 0, 0, 0
	f.buf, f.ends = f.buf[:0], f.ends[:0]
	if cap(f.buf) > keptBytes {
		f.buf = nil
	}
	if cap(f.ends) > keptEnds {
		f.ends = nil
	}
}

// compact moves the half command to the front. Once per half command, as then taken is 0: so its cost is bounded by its bytes.
func (f *framer) compact() {
	if f.taken == 0 || f.next < len(f.ends) {
		return
	}
	half := f.buf[f.taken:]
	f.reset()
	f.buf = append(f.buf, half...) // may overlap its source, which append allows
	f.start = 0
}
