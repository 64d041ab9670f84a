package commands

import (
	"bytes"
	"fmt"
	"strings"
)

// Error is the whole text of an error reply: the code for machines, then the sentence.
type Error string

func (e Error) Error() string { return string(e) }

// Redis's own words. Clients match on some of them.
const (
	errSyntax   Error = "ERR syntax error"
	errInteger  Error = "ERR value is not an integer or out of range"
	errNoKeys   Error = "ERR Number of keys can't be greater than number of args"
	errNegative Error = "ERR Number of keys can't be negative"
	errNumKeys  Error = "ERR invalid numkeys value"
	errPairs    Error = "ERR wrong number of key-value pairs"
)

// WrongArity is Redis's text for too few or too many arguments; a subcommand's name is like client|id.
func WrongArity(name string) Error {
	return Error("ERR wrong number of arguments for '" + name + "' command")
}

func errExpire(name string) Error {
	return Error("ERR invalid expire time in '" + name + "' command")
}

// Unsupported refuses what Redis knows and we do not, so that nobody takes it for done.
func Unsupported(what string) Error {
	return Error("ERR redlockd does not support " + what)
}

// Reserved refuses a key or a value that is redlockd's own on the nodes.
func Reserved(what string, b []byte) Error {
	return Error("ERR " + what + " '" + cString(b, 128) + "' is reserved for redlockd")
}

// Unknown is Redis's text for a command that it does not know, to the letter:
// clients compare it to find out what a server can do, and fall back. So a command of Redis's
// that we do not have (INCR, HSET, SCAN) is unknown, too, and not refused in friendlier words.
func Unknown(args [][]byte) Error {
	var shown strings.Builder
	for _, arg := range args[1:] {
		if shown.Len() >= 128 {
			break
		}
		fmt.Fprintf(&shown, "'%s' ", cString(arg, 128-shown.Len()))
	}
	return Error(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s",
		cString(args[0], 128), OneLine(shown.String())))
}

// UnknownSubcommand is the same for the second word of a command.
func UnknownSubcommand(args [][]byte) Error {
	return Error(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.",
		cString(args[1], 128), strings.ToUpper(string(args[0]))))
}

// WrongSubArity is Redis's text where a subcommand checks for itself.
func WrongSubArity(args [][]byte) Error {
	return Error(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		cString(args[1], 128), strings.ToUpper(string(args[0]))))
}

// cString is what C prints of b for %.*s: up to a NUL, up to n bytes.
func cString(b []byte, n int) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return OneLine(string(b[:min(len(b), n)]))
}

// OneLine keeps what a client sent from breaking the reply or the line that quotes it.
func OneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}
