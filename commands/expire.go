package commands

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Expiry is the time to live that a command asks for.
type Expiry struct {
	Kind ExpiryKind
	MS   int64 // milliseconds from now, or since 1970
}

// ExpiryKind says what Expiry.MS counts from. The zero value is no expiry.
type ExpiryKind uint8

const (
	NoExpiry   ExpiryKind = iota
	FromNow               // EX, PX
	SinceEpoch            // EXAT, PXAT
)

// parseExpire is EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT key number [NX|XX|GT|LT ...].
func parseExpire(c *Command, _ *Scripts) (err error) {
	if c.If, err = parseExpireOptions(c.Args[3:]); err != nil {
		return err
	}
	n, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	seconds, at := c.Name == "expire" || c.Name == "expireat", strings.HasSuffix(c.Name, "at")
	if seconds {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return errExpire(c.Name)
		}
		n *= 1000
	}
	c.Key = c.Args[1]
	if at {
		c.Expiry = Expiry{SinceEpoch, max(n, 0)} // all that is before 1970 is as much in the past
		return nil
	}
	if n > math.MaxInt64-farFuture {
		return errExpire(c.Name)
	}
	c.Expiry = Expiry{FromNow, n}
	if n <= 0 {
		c.Lapse()
	}
	return nil
}

// Lapse makes of an Expire whose expiry is in the past what Redis makes of it: the key is deleted, on the same condition.
func (c *Command) Lapse() {
	c.deletes()
	if c.If == Always && !c.Old {
		c.Key, c.Keys = nil, [][]byte{c.Key}
	}
}

const (
	errNXWith   Error = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errGTWithLT Error = "ERR GT and LT options at the same time are not compatible"
)

// parseExpireOptions: XX with GT is GT, which a key without expiry never passes; XX with LT is LT, which such a key
// passes, but no lock is without expiry (R8).
func parseExpireOptions(args [][]byte) (Condition, error) {
	var nx, xx, gt, lt bool
	for _, arg := range args {
		switch strings.ToUpper(string(arg)) {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "GT":
			gt = true
		case "LT":
			lt = true
		default:
			return Always, Error("ERR Unsupported option " + cString(arg, 128))
		}
	}
	switch {
	case nx && (xx || gt || lt):
		return Always, errNXWith
	case gt && lt:
		return Always, errGTWithLT
	case nx:
		return IfNoExpiry, nil
	case gt:
		return IfLater, nil
	case lt:
		return IfSooner, nil
	case xx:
		return IfExpiry, nil
	}
	return Always, nil
}

// farFuture is more than the milliseconds since 1970 will be for a long time: Redis refuses an
// expiry that overflows when the time of day is added, and so do we, without knowing that.
const farFuture = 1 << 43

// parseExpiry reads the number behind EX, PX, EXAT or PXAT of the named command.
func parseExpiry(name, unit string, arg []byte) (Expiry, error) {
	n, err := parseInt(arg)
	if err != nil {
		return Expiry{}, err
	}
	if n <= 0 {
		return Expiry{}, errExpire(name)
	}
	if unit == "EX" || unit == "EXAT" {
		if n > math.MaxInt64/1000 {
			return Expiry{}, errExpire(name)
		}
		n *= 1000
	}
	if strings.HasSuffix(unit, "AT") {
		return Expiry{SinceEpoch, n}, nil
	}
	if n > math.MaxInt64-farFuture {
		return Expiry{}, errExpire(name)
	}
	return Expiry{FromNow, n}, nil
}

// parseInt reads an integer as Redis does: decimal, no plus, no spaces, no leading zeros.
func parseInt(arg []byte) (int64, error) {
	n, err := strconv.ParseInt(string(arg), 10, 64)
	var room [20]byte
	if err != nil || !bytes.Equal(strconv.AppendInt(room[:0], n, 10), arg) {
		return 0, errInteger
	}
	return n, nil
}
