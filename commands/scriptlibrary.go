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
		if m, isMade := madeOf(vm.Get(i + 1)); isMade {
			if !m.number {
				s.stop("gives a command a text that it has made")
			}
			w, ok = m.parts[0], true
		}
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
	if reply.text.symbol == audience && !s.makes {
		s.stop("publishes in a hidden way") // where comparisons are not guarded
	}
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
	if _, ok := madeOf(vm.Get(1)); ok {
		t := s.vm.NewTable()
		t.RawSetString("ok", vm.Get(1))
		vm.Push(t)
		return 1
	}
	vm.Push(s.field("ok", s.onlyText(vm, "redis.status_reply")))
	return 1
}

// errorReply follows Redis 7: a text of one word gets the code ERR, any other brings its own, with or without the dash.
func (s *sandbox) errorReply(vm *lua.LState) int {
	if m, ok := madeOf(vm.Get(1)); ok {
		// Its code has to stand in the text of the script.
		if !strings.Contains(m.parts[0].text, " ") || m.parts[0].text[0] == '-' {
			return s.stop("gives redis.error_reply something else than a text of its own")
		}
		t := s.failure("")
		t.RawSetString("err", vm.Get(1))
		vm.Push(t)
		return 1
	}
	text := strings.TrimPrefix(s.onlyText(vm, "redis.error_reply"), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	vm.Push(s.failure(text))
	return 1
}

func (s *sandbox) onlyText(vm *lua.LState, caller string) string {
	text, ok := vm.Get(1).(lua.LString)
	if !ok || vm.GetTop() != 1 {
		s.stop("gives " + caller + " something else than a text of its own")
	}
	return string(text)
}

func (s *sandbox) tostring(vm *lua.LState) int {
	switch v := vm.Get(1).(type) {
	case lua.LString, *lua.LUserData:
		vm.Push(v)
	case lua.LBool, *lua.LNilType:
		s.mint(v.String())
		vm.Push(lua.LString(v.String()))
	case lua.LNumber:
		vm.Push(s.make(madeText{parts: []word{{text: s.written(v)}}, number: true}))
	default:
		return s.stop("turns a " + v.Type().String() + " into text")
	}
	return 1
}

func (s *sandbox) typeName(vm *lua.LState) int {
	name := vm.CheckAny(1).Type()
	if name == lua.LTUserData {
		if w, ok := asWord(vm.Get(1)); ok && w.symbol == audience {
			return s.peekAt(audience)
		}
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
