package commands

import (
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

// setOptions are the words behind the key and the value of SET, in any order and case.
type setOptions struct {
	nx, xx bool
	expiry Expiry
}

// parseSetOptions reads all words first, and then the number, as Redis does: which of two mistakes is told
// depends on it.
func parseSetOptions(args [][]byte) (o setOptions, err error) {
	unit := ""
	var number []byte
	for i := 0; i < len(args); i++ {
		switch word := strings.ToUpper(string(args[i])); word {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "EX", "PX", "EXAT", "PXAT":
			if unit != "" && unit != word || i+1 == len(args) {
				return o, errSyntax
			}
			i++
			unit, number = word, args[i]
		case "GET", "KEEPTTL":
			return o, Unsupported("SET with " + word)
		default:
			return o, errSyntax
		}
	}
	if o.nx && o.xx {
		return o, errSyntax
	}
	if unit != "" {
		o.expiry, err = parseExpiry("set", unit, number)
	}
	return o, err
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
	s := string(arg)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, errInteger
	}
	return n, nil
}
