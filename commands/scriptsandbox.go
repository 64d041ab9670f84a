// The sandbox: one script, run against one state of the model key, with nothing in reach but the model.

package commands

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The bounds of the sandbox. A release takes about 20 instructions and two frames.
//
// Memory needs no counter of its own: a text cannot become longer (nothing joins texts), one instruction stores at most one element
// (scriptcompile.go refuses the one that does more), and an element costs well under 1 kB, so a run ends below 2 MB.
const (
	maxSteps     = 2_000   // instructions of one run
	maxAllSteps  = 600_000 // of all runs of one recognition, with stepsPerRun for each: below 0.1 s
	stepsPerRun  = 50      // what it costs to begin a run, in instructions
	maxFrames    = 32
	maxRegisters = 512
)

var errTooLong = errors.New("ran too long")

// stepLimit ends a run after a number of instructions, not after a time, so that what is recognised does not depend on how busy the machine
// is. gopher-lua asks Done before every instruction.
type stepLimit struct {
	context.Context
	left, all int
	over      chan struct{} // closed
}

func (l *stepLimit) Done() <-chan struct{} {
	if l.left--; l.left >= 0 {
		return nil
	}
	return l.over
}

func (l *stepLimit) Err() error { return errTooLong }

// run is one execution: the state it found, what it did, what it answered.
type run struct {
	key      modelKey
	keys     []word // KEYS
	argv     []word // ARGV
	touched  bool
	name     word // of the key it touched
	effects  []effect
	reply    answer
	why      string // set: it did what we do not do
	peeked   symbol // set: it looked into that symbol, and ended there
	rejected bool   // it ended with an error that redis.call raised
}

func (r *run) declared(key word) bool {
	for _, k := range r.keys {
		if k == key {
			return true
		}
	}
	return false
}

// sandbox runs one script many times. Nothing survives a run: globals and the redis table cannot be written, KEYS and ARGV are new.
type sandbox struct {
	vm      *lua.LState
	proto   *lua.FunctionProto
	limit   *stepLimit
	env     *lua.LTable
	globals *lua.LTable
	opaque  *lua.LTable // the metatable of symbols
	symbols map[symbol]*lua.LUserData
	now     *run
}

func newSandbox(proto *lua.FunctionProto) *sandbox {
	s := &sandbox{
		vm:      lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: maxFrames, RegistrySize: maxRegisters}),
		proto:   proto,
		limit:   &stepLimit{Context: context.Background(), all: maxAllSteps, over: make(chan struct{})},
		symbols: make(map[symbol]*lua.LUserData),
	}
	close(s.limit.over)
	s.vm.SetContext(s.limit)
	s.globals = s.library("the global ", map[string]lua.LGFunction{
		"tonumber": s.tonumber, "tostring": s.tostring, "type": s.typeName, "ipairs": s.ipairs,
	})
	s.globals.RawSetString("redis", s.sealed(s.library("redis.", map[string]lua.LGFunction{
		"call": s.call, "pcall": s.pcall, "status_reply": s.statusReply, "error_reply": s.errorReply,
		"replicate_commands": func(vm *lua.LState) int { vm.Push(lua.LTrue); return 1 },
	})))
	s.globals.RawSetString("math", s.sealed(s.library("math.", map[string]lua.LGFunction{
		"floor": s.rounded(math.Floor), "ceil": s.rounded(math.Ceil),
	})))
	s.env = s.sealed(s.globals)
	s.opaque = s.vm.NewTable()
	for _, event := range []string{"index", "newindex", "call", "add", "sub", "mul", "div", "mod", "pow", "unm", "len", "lt", "le"} {
		s.opaque.RawSetString("__"+event, s.vm.NewFunction(s.peek))
	}
	return s
}

// library is a table in which a name that is not there ends the run.
func (s *sandbox) library(prefix string, functions map[string]lua.LGFunction) *lua.LTable {
	t, meta := s.vm.NewTable(), s.vm.NewTable()
	for name, f := range functions {
		t.RawSetString(name, s.vm.NewFunction(f))
	}
	meta.RawSetString("__index", s.vm.NewFunction(func(vm *lua.LState) int {
		return s.stop("uses " + prefix + clip(lua.LVAsString(vm.Get(2))))
	}))
	t.Metatable = meta
	return t
}

// sealed is an empty table that shows another one and cannot be written.
func (s *sandbox) sealed(shown *lua.LTable) *lua.LTable {
	t, meta := s.vm.NewTable(), s.vm.NewTable()
	meta.RawSetString("__index", shown)
	meta.RawSetString("__newindex", s.vm.NewFunction(func(vm *lua.LState) int {
		return s.stop("sets the global " + clip(lua.LVAsString(vm.Get(2))))
	}))
	t.Metatable = meta
	return t
}

// execute runs the script once. It returns with r.why or r.peeked set, or with what the script did.
func (s *sandbox) execute(r *run) {
	s.now = r
	s.limit.left = min(maxSteps, s.limit.all)
	before := s.limit.left
	s.globals.RawSetString("KEYS", s.table(r.keys))
	s.globals.RawSetString("ARGV", s.table(r.argv))
	main := s.vm.NewFunctionFromProto(s.proto)
	main.Env = s.env
	s.vm.Push(main)
	err := s.protected()
	s.limit.all = max(s.limit.all-(before-max(s.limit.left, 0))-stepsPerRun, 0)
	switch {
	case r.why != "" || r.peeked != 0:
	case s.limit.left < 0:
		r.why = "ran too long"
	case err != nil && r.rejected:
	case err != nil:
		r.why = "fails: " + luaComplaint(err)
	default:
		result := s.vm.Get(-1)
		s.vm.Pop(1)
		s.convert(r, result)
	}
}

// protected runs what has been pushed. PCall alone does not do: where a call overflows the registers with its first
// instruction (function(...) return f(1, ...) end), gopher-lua panics inside PCall's own recovery. The refusal that follows is the last of
// this sandbox, so that nobody sees its broken stack.
func (s *sandbox) protected() (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("stack overflow")
		}
	}()
	return s.vm.PCall(0, 1, nil)
}

// stop ends the run: the script does something that we do not do.
func (s *sandbox) stop(why string) int {
	if s.now.why == "" {
		s.now.why = OneLine(why)
	}
	s.vm.RaiseError("stop")
	return 0
}

// peek ends the run: the script looked into a symbol.
func (s *sandbox) peek(vm *lua.LState) int {
	for i := 1; i <= vm.GetTop(); i++ {
		if w, ok := asWord(vm.Get(i)); ok && w.symbol != 0 {
			return s.peekAt(w.symbol)
		}
	}
	return s.stop("looks into a text")
}

func (s *sandbox) peekAt(sym symbol) int {
	if s.now.peeked == 0 {
		s.now.peeked = sym
	}
	s.vm.RaiseError("peek")
	return 0
}

func (s *sandbox) table(words []word) *lua.LTable {
	t := s.vm.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(s.value(w))
	}
	return t
}

func (s *sandbox) value(w word) lua.LValue {
	if w.symbol == 0 {
		return lua.LString(w.text)
	}
	v, ok := s.symbols[w.symbol]
	if !ok {
		v = &lua.LUserData{Value: w.symbol, Metatable: s.opaque}
		s.symbols[w.symbol] = v
	}
	return v
}

// asWord is what Redis makes of an argument of redis.call; a number is written with up to 17 digits.
func asWord(v lua.LValue) (word, bool) {
	switch v := v.(type) {
	case lua.LString:
		return word{text: string(v)}, true
	case lua.LNumber:
		f := float64(v)
		if f == math.Trunc(f) && math.Abs(f) < 1e17 {
			return word{text: strconv.FormatInt(int64(f), 10)}, true
		}
		return word{text: strconv.FormatFloat(f, 'g', 17, 64)}, true
	case *lua.LUserData:
		return word{symbol: v.Value.(symbol)}, true
	default:
		return word{}, false
	}
}

// convert is Redis's conversion of what a script returns.
func (s *sandbox) convert(r *run, v lua.LValue) {
	switch v := v.(type) {
	case *lua.LNilType:
		r.reply = answer{kind: ReplyNil}
	case lua.LBool:
		if v {
			r.reply = yesNo(true)
		}
	case lua.LNumber:
		if !(math.Abs(float64(v)) < math.MaxInt64) {
			r.why = "answers with a number that is too large"
			return
		}
		r.reply = answer{kind: ReplyInt, n: int64(v)}
	case lua.LString, *lua.LUserData:
		w, _ := asWord(v)
		r.reply = answer{kind: ReplyBulk, text: w}
	case *lua.LTable:
		if text, ok := v.RawGetString("err").(lua.LString); ok {
			r.reply = answer{kind: ReplyError, text: word{text: OneLine(string(text))}}
		} else if text, ok := v.RawGetString("ok").(lua.LString); ok {
			r.reply = answer{kind: ReplyStatus, text: word{text: OneLine(string(text))}}
		} else {
			r.why = "answers with a table"
		}
	default:
		r.why = "answers with a " + v.Type().String()
	}
}

// luaComplaint is the first line of a Lua error.
func luaComplaint(err error) string {
	text := err.Error()
	if api := (*lua.ApiError)(nil); errors.As(err, &api) && api.Object != nil {
		text = api.Object.String()
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.ReplaceAll(text, "userdata", "string")
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return OneLine(text)
}
