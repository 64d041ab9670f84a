// From the text of a script to something that can be run in the sandbox, with a bound on what a hostile text may cost.

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

const (
	// maxOperators bounds arithmetic and concatenation: the compiler folds constants once per enclosing operator, so that
	// the time grows with the square (64 kB of "+1+1+1" take 40 s, 256 operators nothing).
	// A length becomes a call, see guard.
	maxOperators = 256
	// maxText bounds the texts that a script may look into, its own and those that it is given, in bytes: one instruction compares all of
	// two texts.
	maxText = 1024
	// maxConstants bounds the values that recognition has to try besides its own: 64 texts are ten times what release scripts have.
	maxConstants = 64
)

// knownScript is one script of the cache: compiled, and with the shapes in which it has been seen. See scriptshape.go.
type knownScript struct {
	sha     string
	proto   *lua.FunctionProto // nil when why is set
	keyed   bool               // it fills tables by index or by name
	makes   bool               // it may make texts, or publish: see scriptmade.go
	turns   turns
	why     string              // why it is refused whatever its arguments are
	texts   map[string]struct{} // every text that the script can hold without being given it: see collect
	sorted  []string            // the same, so that a refusal is the same in each run
	own     []string            // those that stand in it
	numbers []int64             // its whole positive numbers, written as numbers or as texts

	shebang, noWrites bool // see cutShebang

	shapeList
}

// mintedTexts are the texts that our sandbox gives to any script: the answers of type(), tostring() and TYPE, and the errors that
// redis.pcall may return.
var mintedTexts = append([]string{
	"", "nil", "boolean", "number", "string", "table", "function", "true", "false", "OK", "none",
	errWrongType, errNotInteger, errArguments, errDatabase,
	string(errExpire("set")), string(errExpire("setex")), string(errExpire("psetex")), string(errExpire("expire")),
	string(errExpire("pexpire")), string(errExpire("expireat")), string(errExpire("pexpireat")),
}, otherTypes...)

// otherTypes are what TYPE answers of a key that is not a string.
var otherTypes = []string{"list", "set", "zset", "hash", "stream"}

// compileScript returns an error with Redis's words when the text is not Lua. A text that is Lua but beyond our bounds, or that uses
// what the sandbox does not have, is kept (SCRIPT LOAD succeeds) and refused when it is called.
func compileScript(body []byte, sha string) (known *knownScript, err error) {
	// The compiler reports its limits by panicking, and hostile text may find a panic that is its own bug.
	defer func() {
		if r := recover(); r != nil {
			known, err = nil, compileError(fmt.Errorf("%v", r))
		}
	}()
	known = &knownScript{sha: sha, texts: make(map[string]struct{})}
	if body, known.shebang, known.noWrites, err = cutShebang(body); err != nil {
		return nil, err
	}
	chunk, err := parse.Parse(bytes.NewReader(body), "user_script")
	if err != nil {
		return nil, compileError(err)
	}
	if known.makes, known.why = scanTokens(body); known.why != "" {
		return known, nil
	}
	known.keyed = guard(reflect.ValueOf(chunk), known.makes)
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, compileError(err)
	}
	known.proto = proto
	known.why = known.collect(proto)
	known.own = slices.Sorted(maps.Keys(known.texts))
	for _, text := range mintedTexts {
		known.texts[text] = struct{}{}
	}
	if len(known.own) > maxConstants || len(known.numbers) > maxConstants {
		known.why = fmt.Sprintf("has more than %d constants", maxConstants)
	}
	if known.why != "" {
		known.proto = nil
	}
	known.sorted = slices.Sorted(maps.Keys(known.texts))
	return known, nil
}

// scanTokens scans once more what has just been parsed without error, for what must not come to the compiler, and says why not; and whether
// anything makes texts.
func scanTokens(body []byte) (makes bool, why string) {
	scanner, operators := parse.NewScanner(bytes.NewReader(body), "user_script"), 0
	for lexer := new(parse.Lexer); ; {
		token, err := scanner.Scan(lexer)
		if err != nil || token.Type == parse.EOF {
			return makes, ""
		}
		switch token.Type {
		case parse.TIdent:
			makes = makes || token.Str == "format" || token.Str == "tostring"
		case parse.TString:
			makes = makes || strings.EqualFold(token.Str, "publish") // how many have heard it cannot be compared either
		case '+', '-', '*', '/', '%', '^', '#', parse.T2Comma:
			if operators++; operators > maxOperators {
				return makes, fmt.Sprintf("has more than %d operators", maxOperators)
			}
			if token.Type == '^' {
				return makes, "calculates a power" // not to the last bit what C's pow does
			}
			makes = makes || token.Type == parse.T2Comma
		case parse.TNumber:
			// gopher-lua reads 0010 as octal, Lua as ten.
			if n := token.Str; len(n) > 1 && n[0] == '0' && n[1] >= '0' && n[1] <= '9' {
				return makes, "writes a number with leading zeros"
			}
			if _, ok, sure := luaNumber(token.Str); !ok || !sure {
				return makes, "writes a number of an unusual kind"
			}
		}
	}
}

// collect gathers the constants of a function and of the functions in it, and says why the function is refused, or "".
//
// Law: the texts that a running script can compare its arguments with are the other arguments, what it reads from its keys, and
// k.texts. That holds because no text that is made in the sandbox can be compared (scriptmade.go), string.sub cuts only at one length (see
// recognition.cuts), and a number that is written to a key has to be one of the script's own (run.put).
// Recognition rests on it.
func (k *knownScript) collect(proto *lua.FunctionProto) string {
	for _, constant := range proto.Constants {
		switch c := constant.(type) {
		case lua.LString:
			if len(c) > maxText {
				return fmt.Sprintf("has a text of more than %d bytes", maxText)
			}
			k.texts[string(c)] = struct{}{}
			if n, ok := plainTTL([]byte(c)); ok {
				k.numbers = append(k.numbers, n)
			}
		case lua.LNumber:
			w, _ := asWord(c)
			k.texts[w.text] = struct{}{}
			if n := int64(c); n > 0 && lua.LNumber(n) == c && n <= maxTTL {
				k.numbers = append(k.numbers, n)
			}
		}
	}
	// Every word is looked at as an instruction, also those that are an operand of the one before: a word too many
	// refuses too much at worst.
	for _, word := range proto.Code {
		if int(word>>26) == lua.OP_CONCAT {
			return "joins texts" // unseen by guard
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		if why := k.collect(inner); why != "" {
			return why
		}
	}
	return ""
}

// compileError puts the parser's complaint into Redis's words, on one line.
func compileError(err error) error {
	var syntax *parse.Error
	text := err.Error()
	if errors.As(err, &syntax) {
		text = fmt.Sprintf("user_script:%d: %s near '%s'", syntax.Pos.Line, syntax.Message, clip(syntax.Token))
		if syntax.Pos.Line == parse.EOF {
			text = fmt.Sprintf("user_script: %s near '<eof>'", syntax.Message)
		}
	} else if errors.Is(err, io.EOF) {
		text = "user_script: unexpected end"
	}
	return Error("ERR Error compiling script (new function): " + strings.TrimSpace(OneLine(text)))
}

// clip shortens a text of the client's for an error.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// quoted is clip for a text that may hold anything.
func quoted(text string) string { return strconv.Quote(clip(text)) }
