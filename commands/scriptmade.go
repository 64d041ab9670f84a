// Texts that a script makes: joined, formatted, or written from a number. It may log them and answer with them, and nothing else.
//
// That is why they do not break the law at knownScript.collect: no script can compare them, look into them, use them as an index, or hand
// them to a command, so that nothing that it does depends on what they say. Where a script makes any, guard puts a function of ours
// in place of each comparison and each index.

package commands

import (
	"math"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxParts bounds the parts of a made text.
const maxParts = 32

// madeText is a text of several words. One that is a number is also what Redis makes of that number.
type madeText struct {
	parts  []word
	number bool
}

// make returns a made text as a Lua value.
func (s *sandbox) make(m madeText) lua.LValue {
	if len(m.parts) > maxParts {
		s.stop("joins too many texts")
	}
	if !s.makes {
		s.stop("makes a text in a hidden way")
	}
	return &lua.LUserData{Value: m, Metatable: s.opaque}
}

func madeOf(v lua.LValue) (madeText, bool) {
	if u, ok := v.(*lua.LUserData); ok {
		m, ok := u.Value.(madeText)
		return m, ok
	}
	return madeText{}, false
}

// symbolOf is the symbol behind a value that can only be one. A made text ends the run.
func (s *sandbox) symbolOf(u *lua.LUserData) symbol {
	if w, ok := u.Value.(word); ok {
		return w.symbol
	}
	s.stop("looks into a text that it has made")
	return 0
}

// partsOf are the words of what can be joined.
func (s *sandbox) partsOf(v lua.LValue) []word {
	if m, ok := madeOf(v); ok {
		return m.parts
	}
	if n, ok := v.(lua.LNumber); ok {
		return []word{{text: s.written(n)}}
	}
	w, ok := asWord(v)
	if !ok {
		s.stop("joins a " + v.Type().String())
	}
	return []word{w}
}

// written is tostring of a number. Lua writes 14 digits.
func (s *sandbox) written(n lua.LNumber) string {
	f := float64(n)
	if f != math.Trunc(f) || math.Abs(f) >= 1e14 || f == 0 && math.Signbit(f) {
		s.stop("writes a number that is not whole")
	}
	return strconv.FormatInt(int64(f), 10)
}

func (s *sandbox) join(vm *lua.LState) int {
	parts := slices.Clone(s.partsOf(vm.Get(1)))
	vm.Push(s.make(madeText{parts: append(parts, s.partsOf(vm.Get(2))...)}))
	return 1
}

// format is string.format with %s, %d and %%.
func (s *sandbox) format(vm *lua.LState) int {
	text, ok := vm.Get(1).(lua.LString)
	if !ok {
		return s.stop("formats by what is not a text of its own")
	}
	var parts []word
	next := 2
	for rest := string(text); ; {
		before, after, found := strings.Cut(rest, "%")
		parts = append(parts, word{text: before})
		if !found {
			break
		}
		v := vm.Get(next)
		_, number := v.(lua.LNumber)
		switch {
		case strings.HasPrefix(after, "%"):
			parts = append(parts, word{text: "%"})
		case strings.HasPrefix(after, "s"), strings.HasPrefix(after, "d") && number:
			parts = append(parts, s.partsOf(v)...)
			next++
		default:
			return s.stop("formats otherwise than with %s")
		}
		rest = after[1:]
	}
	vm.Push(s.make(madeText{parts: parts}))
	return 1
}

// equal is == where a script makes texts.
func (s *sandbox) equal(vm *lua.LState) int {
	s.unmade(vm.Get(1))
	s.unmade(vm.Get(2))
	vm.Push(lua.LBool(vm.RawEqual(vm.Get(1), vm.Get(2))))
	return 1
}

// indexRead stands around an index, as equal stands for a comparison.
func (s *sandbox) indexRead(vm *lua.LState) int {
	s.unmade(vm.Get(1))
	vm.Push(vm.Get(1))
	return 1
}

func (s *sandbox) unmade(v lua.LValue) {
	if _, ok := madeOf(v); ok {
		s.stop("compares a text that it has made")
	}
	if w, ok := asWord(v); ok && w.symbol == audience {
		s.peekAt(audience)
	}
}

// log is redis.log. Nobody can see what is logged, so it is not kept.
func (s *sandbox) log(vm *lua.LState) int {
	level, ok := s.number(vm.Get(1))
	if vm.GetTop() < 2 || !ok || level < 0 || level > 3 {
		return s.stop("calls redis.log wrongly")
	}
	return 0
}

// throw is error(): no script can catch what it throws, so it answers it.
func (s *sandbox) throw(vm *lua.LState) int {
	if vm.GetTop() > 1 {
		return s.stop("calls error with a level")
	}
	return s.fail(vm, vm.Get(1))
}

func (s *sandbox) assert(vm *lua.LState) int {
	switch {
	case lua.LVAsBool(vm.Get(1)):
		return vm.GetTop()
	case vm.GetTop() < 2:
		return s.fail(vm, lua.LString("assertion failed!"))
	default:
		return s.fail(vm, vm.Get(2))
	}
}

// fail ends the script with an error, and Redis's words for where it was.
func (s *sandbox) fail(vm *lua.LState, v lua.LValue) int {
	line := strconv.Itoa(lineOf(vm.Where(1)))
	parts := []word{{text: "ERR user_script:" + line + ": "}}
	if t, ok := v.(*lua.LTable); ok {
		parts, v = nil, t.RawGetString("err")
	}
	if v == lua.LNil {
		return s.stop("fails without a text")
	}
	if _, ok := v.(lua.LBool); ok {
		return s.stop("fails without a text")
	}
	parts = append(parts, s.partsOf(v)...)
	s.now.reply = answer{kind: ReplyError, made: append(parts, word{text: " script: " + s.sha + ", on @user_script:" + line + "."})}
	s.now.thrown = true
	vm.RaiseError("thrown")
	return 0
}
