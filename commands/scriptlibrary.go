// The functions that a script finds in the sandbox, as Redis and Lua 5.1 have them.

package commands

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (s *sandbox) call(vm *lua.LState) int {
	reply := s.command(vm)
	if reply.kind == ReplyError {
		// There is no pcall in the sandbox, so nothing can catch it.
		s.now.rejected = true
		vm.RaiseError("%s", reply.text.text)
	}
	vm.Push(s.result(reply))
	return 1
}

func (s *sandbox) pcall(vm *lua.LState) int {
	vm.Push(s.result(s.command(vm)))
	return 1
}

func (s *sandbox) command(vm *lua.LState) answer {
	if vm.GetTop() == 0 {
		s.stop("calls no command")
	}
	args := make([]word, vm.GetTop())
	for i := range args {
		w, ok := asWord(vm.Get(i + 1))
		if !ok {
			return answer{kind: ReplyError, text: word{text: errArguments}}
		}
		args[i] = w
	}
	reply, why, peeked := s.now.do(args)
	if why != "" {
		s.stop(why)
	}
	if peeked != 0 {
		s.peekAt(peeked)
	}
	return reply
}

// result is Redis's conversion of a reply into a Lua value.
func (s *sandbox) result(a answer) lua.LValue {
	switch a.kind {
	case ReplyInt:
		return lua.LNumber(a.n)
	case ReplyBulk:
		return s.value(a.text)
	case ReplyError:
		return s.field("err", a.text.text)
	default:
		return lua.LFalse
	}
}

func (s *sandbox) field(name, text string) *lua.LTable {
	t := s.vm.NewTable()
	t.RawSetString(name, lua.LString(text))
	return t
}

func (s *sandbox) statusReply(vm *lua.LState) int {
	vm.Push(s.field("ok", s.onlyText(vm, "redis.status_reply")))
	return 1
}

// errorReply follows Redis 7: a text of one word gets the code ERR, any other brings its own, with or without the dash.
func (s *sandbox) errorReply(vm *lua.LState) int {
	text := strings.TrimPrefix(s.onlyText(vm, "redis.error_reply"), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	vm.Push(s.field("err", text))
	return 1
}

func (s *sandbox) onlyText(vm *lua.LState, caller string) string {
	text, ok := vm.Get(1).(lua.LString)
	if !ok || vm.GetTop() != 1 {
		s.stop("gives " + caller + " something else than a text of its own")
	}
	return string(text)
}

func (s *sandbox) tonumber(vm *lua.LState) int {
	if vm.GetTop() != 1 {
		return s.stop("calls tonumber with a base")
	}
	if n, ok := s.number(vm.Get(1)); ok {
		vm.Push(n)
	} else {
		vm.Push(lua.LNil)
	}
	return 1
}

// number converts as Lua's tonumber does, with C's strtod behind it. A symbol ends the run.
func (s *sandbox) number(v lua.LValue) (lua.LNumber, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return v, true
	case *lua.LUserData:
		s.peekAt(v.Value.(symbol))
	case lua.LString:
		text := strings.Trim(string(v), " \t\n\v\f\r")
		if strings.Contains(text, "_") {
			return 0, false // Go allows 1_000
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return lua.LNumber(f), true
		}
		if n, err := strconv.ParseInt(text, 0, 64); err == nil && strings.Contains(strings.ToLower(text), "0x") {
			return lua.LNumber(n), true
		}
	}
	return 0, false
}

// tostring makes no text of a number: see collect for why texts must not come out of nothing.
func (s *sandbox) tostring(vm *lua.LState) int {
	switch v := vm.Get(1).(type) {
	case lua.LString, *lua.LUserData:
		vm.Push(v)
	case lua.LBool, *lua.LNilType:
		vm.Push(lua.LString(v.String()))
	default:
		return s.stop("turns a " + v.Type().String() + " into text")
	}
	return 1
}

func (s *sandbox) typeName(vm *lua.LState) int {
	name := vm.CheckAny(1).Type()
	if name == lua.LTUserData {
		name = lua.LTString
	}
	vm.Push(lua.LString(name.String()))
	return 1
}

func (s *sandbox) rounded(round func(float64) float64) lua.LGFunction {
	return func(vm *lua.LState) int {
		n, ok := s.number(vm.Get(1))
		if !ok || math.IsNaN(float64(n)) {
			return s.stop("rounds what is not a number")
		}
		vm.Push(lua.LNumber(round(float64(n))))
		return 1
	}
}

func (s *sandbox) ipairs(vm *lua.LState) int {
	t := vm.CheckTable(1)
	vm.Push(vm.NewFunction(func(vm *lua.LState) int {
		i := vm.CheckInt(2) + 1
		v := vm.CheckTable(1).RawGetInt(i)
		if v == lua.LNil {
			vm.Push(lua.LNil)
			return 1
		}
		vm.Push(lua.LNumber(i))
		vm.Push(v)
		return 2
	}))
	vm.Push(t)
	vm.Push(lua.LNumber(0))
	return 3
}
