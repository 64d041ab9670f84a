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
	args := make([]word, vm.GetTop())
	for i := range args {
		w, ok := asWord(vm.Get(i + 1))
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
		return s.field("err", a.text.text)
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
		s.peekAt(v.Value.(word).symbol)
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

// extreme is math.min or math.max.
func (s *sandbox) extreme(choose func(a, b float64) float64) lua.LGFunction {
	return func(vm *lua.LState) int {
		best, ok := s.number(vm.Get(1))
		for i := 2; i <= vm.GetTop() && ok; i++ {
			var n lua.LNumber
			n, ok = s.number(vm.Get(i))
			best = lua.LNumber(choose(float64(best), float64(n)))
		}
		if !ok {
			return s.stop("compares what is not a number")
		}
		vm.Push(best)
		return 1
	}
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
