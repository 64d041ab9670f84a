// The functions that a script finds in the sandbox, as Redis and Lua 5.1 have them.

package commands

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (s *sandbox) call(vm *lua.LState) int {
	reply := s.command(vm)
	if reply.kind == ReplyError {
		// There is no pcall in the sandbox, so nothing can catch it.
		s.now.rejected = true
		s.now.reply = reply
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
	if vm.GetTop() > maxElements {
		s.stop("calls a command with too many arguments")
	}
	s.spend(vm.GetTop())
	args := make([]word, vm.GetTop())
	for i := range args {
		w, ok := asWord(vm.Get(i + 1))
		if !ok && vm.Get(i+1).Type() == lua.LTNumber {
			s.stop("gives a command a number that is infinite, or none, or minus zero")
		}
		if !ok {
			return answer{kind: ReplyError, text: word{text: errArguments}}
		}
		args[i] = w
	}
	if s.now.line == 0 && args[0].symbol == 0 && verbs[strings.ToUpper(args[0].text)].writes {
		s.now.line = lineOf(vm.Where(1))
	}
	reply := s.now.do(args)
	if s.now.why != "" || s.now.peeked != 0 {
		vm.RaiseError("stop")
	}
	return reply
}

// lineOf reads the line in a position like "user_script:3: ".
func lineOf(position string) int {
	_, position, _ = strings.Cut(position, ":")
	position, _, _ = strings.Cut(position, ":")
	line, _ := strconv.Atoi(position)
	return line
}

// result is Redis's conversion of a reply into a Lua value.
func (s *sandbox) result(a answer) lua.LValue {
	switch a.kind {
	case ReplyInt:
		return lua.LNumber(a.n)
	case ReplyBulk:
		if a.text == (word{}) {
			s.mint("")
		}
		return s.value(a.text)
	case ReplyError:
		return s.failure(a.text.text)
	case ReplyStatus:
		return s.field("ok", a.text.text)
	case ReplyArray:
		t := s.vm.CreateTable(len(a.items), 0)
		for _, item := range a.items {
			t.Append(s.result(item))
		}
		return t
	default:
		return lua.LFalse
	}
}

func (s *sandbox) field(name, text string) *lua.LTable {
	s.mint(text)
	t := s.vm.NewTable()
	t.RawSetString(name, lua.LString(text))
	return t
}

// failure is an error as a table. Since Redis 7 there is more in it, which depends on the version.
func (s *sandbox) failure(text string) *lua.LTable {
	t := s.field("err", text)
	t.Metatable = s.errors
	return t
}

func (s *sandbox) missingField(vm *lua.LState) int {
	switch name := vm.Get(2); name {
	case lua.LString("line"), lua.LString("source"), lua.LString("ignore_error_stats_update"):
		return s.stop("reads where an error came from")
	default:
		if w, ok := asWord(name); ok && w.symbol != 0 {
			return s.peekAt(w.symbol)
		}
		vm.Push(lua.LNil)
		return 1
	}
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
	vm.Push(s.failure(text))
	return 1
}

// throw is error: nothing can catch it, so that it is what the script answers, as Redis words it.
func (s *sandbox) throw(vm *lua.LState) int {
	where := strings.TrimSuffix(vm.Where(1), ":")
	text := ""
	switch v := vm.Get(1).(type) {
	case lua.LString:
		text = "ERR " + where + ": " + string(v)
	case *lua.LTable:
		own, ok := v.RawGetString("err").(lua.LString)
		if !ok {
			return s.stop("throws something else than a text of its own")
		}
		text = string(own)
	default:
		return s.stop("throws something else than a text of its own")
	}
	s.now.thrown = true
	s.now.reply = failure(OneLine(text + " script: " + s.sha + ", on @" + where + "."))
	vm.RaiseError("thrown")
	return 0
}

func (s *sandbox) assert(vm *lua.LState) int {
	if lua.LVAsBool(vm.Get(1)) {
		return vm.GetTop()
	}
	vm.Remove(1)
	if vm.GetTop() == 0 {
		vm.Push(lua.LString("assertion failed!"))
	}
	return s.throw(vm)
}

func (s *sandbox) onlyText(vm *lua.LState, caller string) string {
	text, ok := vm.Get(1).(lua.LString)
	if !ok || vm.GetTop() != 1 {
		s.stop("gives " + caller + " something else than a text of its own")
	}
	return string(text)
}

// tostring makes no text of a number: see collect for why texts must not come out of nothing.
func (s *sandbox) tostring(vm *lua.LState) int {
	switch v := vm.Get(1).(type) {
	case lua.LString, *lua.LUserData:
		vm.Push(v)
	case lua.LBool, *lua.LNilType:
		s.mint(v.String())
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
	s.mint(name.String())
	vm.Push(lua.LString(name.String()))
	return 1
}

// sub is string.sub(text, 1, n): how a text begins, which is how some libraries keep a token apart from what stands behind it.
func (s *sandbox) sub(vm *lua.LState) int {
	start, okStart := s.number(vm.Get(2))
	end, okEnd := s.number(vm.Get(3))
	w, ok := asWord(vm.Get(1))
	n := int(end)
	switch {
	case !ok || !okStart || !okEnd || start != 1 || lua.LNumber(n) != end || n < 1 || n > maxCut:
		return s.stop("cuts a text otherwise than by its beginning")
	case w.cut != 0 || w.symbol > maxWords:
		return s.stop("looks into the value of the key")
	case s.now.of != nil && !s.now.of.cuts(n):
		return s.stop("cuts texts at two lengths")
	}
	vm.Push(s.value(s.now.cutValue(w, n)))
	return 1
}

// mint notes that the script has got hold of one of mintedTexts.
func (s *sandbox) mint(text string) {
	if c := s.now.of; c != nil {
		if _, ok := c.known.texts[text]; ok {
			c.minted[text] = true
		}
	}
}
