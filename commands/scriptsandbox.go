// The sandbox: one script, run against one state of the model key, with nothing in reach but the model.

package commands

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The bounds of the sandbox. A release takes about 20 instructions and two frames.
//
// Memory needs no counter of its own: a text cannot become longer (nothing joins texts), one instruction stores at most one element
// or fills a table up to maxElements (scripttables.go), and no run holds 8 MB.
const (
	maxSteps     = 2_000     // instructions of one run
	maxAllSteps  = 1_500_000 // of all runs of one recognition, with stepsPerRun for each: below 0.3 s
	stepsPerRun  = 150       // what it costs to begin a run, in instructions
	maxElements  = 256       // of a table that is filled by index, of an argument list, of a reply
	maxDepth     = 4         // of tables in a reply
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

// sandbox runs one script many times. Nothing survives a run: globals and the redis table cannot be written, KEYS and ARGV are new.
type sandbox struct {
	vm      *lua.LState
	sha     string
	proto   *lua.FunctionProto
	keyed   bool // tables are filled by index: see next
	makes   bool // it may make texts
	limit   *stepLimit
	env     *lua.LTable
	globals *lua.LTable
	opaque  *lua.LTable // the metatable of symbols
	errors  *lua.LTable // and of errors
	symbols map[word]*lua.LUserData
	now     *run
	broken  bool // gopher-lua has lost its stack: nothing can be run any more
}

func newSandbox(known *knownScript) *sandbox {
	s := &sandbox{
		keyed:   known.keyed,
		makes:   known.makes,
		vm:      lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: maxFrames, RegistrySize: maxRegisters}),
		proto:   known.proto,
		sha:     known.sha,
		limit:   &stepLimit{Context: context.Background(), all: maxAllSteps, over: make(chan struct{})},
		symbols: make(map[word]*lua.LUserData),
	}
	close(s.limit.over)
	s.vm.SetContext(s.limit)
	s.globals = s.library("the global ", map[string]lua.LGFunction{
		"tonumber": s.tonumber, "tostring": s.tostring, "type": s.typeName, "ipairs": s.ipairs, "pairs": s.pairs, "next": s.next,
		"error": s.throw, "assert": s.assert, "unpack": s.unpack, "select": s.choice,
		indexGuard: s.index, lengthGuard: s.length, moduloGuard: s.arithmetic(modulo),
		joinGuard: s.join, equalGuard: s.equal, readGuard: s.indexRead,
	})
	calls := s.library("redis.", map[string]lua.LGFunction{
		"call": s.call, "pcall": s.pcall, "status_reply": s.statusReply, "error_reply": s.errorReply,
		"replicate_commands": func(vm *lua.LState) int { vm.Push(lua.LTrue); return 1 }, "log": s.log,
	})
	for level, name := range []string{"DEBUG", "VERBOSE", "NOTICE", "WARNING"} {
		calls.RawSetString("LOG_"+name, lua.LNumber(level))
	}
	s.globals.RawSetString("redis", s.sealed(calls))
	s.globals.RawSetString("math", s.sealed(s.library("math.", map[string]lua.LGFunction{
		"floor": s.rounded(math.Floor), "ceil": s.rounded(math.Ceil),
		"min": s.extreme(func(a, b lua.LNumber) bool { return a < b }), "max": s.extreme(func(a, b lua.LNumber) bool { return a > b }),
	})))
	s.globals.RawSetString("table", s.sealed(s.library("table.", map[string]lua.LGFunction{
		"insert": s.insert, "getn": s.length,
	})))
	texts := s.sealed(s.library("string.", map[string]lua.LGFunction{"sub": s.sub, "format": s.format}))
	s.globals.RawSetString("string", texts)
	methods := s.vm.NewTable()
	methods.RawSetString("__index", texts)
	for event, f := range s.operators() {
		methods.RawSetString(event, s.vm.NewFunction(f))
	}
	s.vm.SetMetatable(lua.LString(""), methods)
	s.env = s.sealed(s.globals)
	s.errors = s.vm.NewTable()
	s.errors.RawSetString("__index", s.vm.NewFunction(s.missingField))
	s.opaque = s.vm.NewTable()
	s.opaque.RawSetString("__index", texts)
	for _, event := range []string{"newindex", "call", "add", "sub", "mul", "div", "mod", "pow", "unm", "len", "lt", "le"} {
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

// spend is what a function costs that has n values to look at, in instructions.
func (s *sandbox) spend(n int) { s.limit.left -= n }

// execute runs the script once. It returns with r.why or r.peeked set, or with what the script did.
func (s *sandbox) execute(r *run) {
	if s.broken {
		r.why = "fails: stack overflow"
		return
	}
	s.now = r
	r.was, r.db = slices.Clone(r.now), -1
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
	case err != nil && (r.rejected || r.thrown):
	case err != nil:
		r.why = "fails: " + luaComplaint(err)
	default:
		result := s.vm.Get(-1)
		s.vm.Pop(1)
		r.reply = s.convert(r, result, 0)
	}
}

// protected runs what has been pushed. PCall alone does not do: where a call overflows the registers with its first
// instruction (function(...) return f(1, ...) end), gopher-lua panics inside PCall's own recovery.
func (s *sandbox) protected() (err error) {
	defer func() {
		if recover() != nil {
			err, s.broken = errors.New("stack overflow"), true
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
	v, ok := s.symbols[w]
	if !ok {
		v = &lua.LUserData{Value: w, Metatable: s.opaque}
		s.symbols[w] = v
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
		switch {
		case math.IsInf(f, 0), math.IsNaN(f), f == 0 && math.Signbit(f):
			return word{}, false // written otherwise by C, if not even by each C in its own way
		case f == math.Trunc(f) && math.Abs(f) < 1e17:
			return word{text: strconv.FormatInt(int64(f), 10)}, true
		}
		return word{text: strconv.FormatFloat(f, 'g', 17, 64)}, true
	case *lua.LUserData:
		w, ok := v.Value.(word)
		return w, ok
	default:
		return word{}, false
	}
}

// convert is Redis's conversion of what a script returns.
func (s *sandbox) convert(r *run, v lua.LValue, depth int) (a answer) {
	switch v := v.(type) {
	case *lua.LNilType:
	case lua.LBool:
		if v {
			return yesNo(true)
		}
	case lua.LNumber:
		if !(math.Abs(float64(v)) < math.MaxInt64) {
			return r.refuse("answers with a number that is too large")
		}
		return answer{kind: ReplyInt, n: int64(v)}
	case lua.LString, *lua.LUserData:
		if m, ok := madeOf(v); ok {
			return answer{kind: ReplyBulk, made: m.parts}
		}
		w, _ := asWord(v)
		return answer{kind: ReplyBulk, text: w}
	case *lua.LTable:
		return s.convertTable(r, v, depth)
	default:
		r.refuse("answers with a " + v.Type().String())
	}
	return answer{kind: ReplyNil}
}

func (s *sandbox) convertTable(r *run, t *lua.LTable, depth int) answer {
	if text, ok := t.RawGetString("err").(lua.LString); ok {
		return answer{kind: ReplyError, text: word{text: OneLine(string(text))}}
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		return answer{kind: ReplyStatus, text: word{text: OneLine(string(text))}}
	}
	if m, ok := madeOf(t.RawGetString("err")); ok {
		return answer{kind: ReplyError, made: m.parts}
	}
	if m, ok := madeOf(t.RawGetString("ok")); ok {
		return answer{kind: ReplyStatus, made: m.parts}
	}
	for _, name := range []string{"err", "ok", "double", "map", "set", "big_number", "verbatim_string"} {
		if t.RawGetString(name) != lua.LNil {
			return r.refuse("answers with a table of its own kind: " + name)
		}
	}
	all := answer{kind: ReplyArray}
	for i := 1; ; i++ {
		item := t.RawGetInt(i)
		if item == lua.LNil { // as in Redis, the first nil is the end
			return all
		}
		if r.items++; r.items > maxElements || depth == maxDepth {
			return r.refuse("answers with too large a table")
		}
		all.items = append(all.items, s.convert(r, item, depth+1))
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
