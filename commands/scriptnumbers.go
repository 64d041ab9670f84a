// Numbers, as Lua 5.1 with C's strtod behind it has them.

package commands

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxNumber is the longest text that is made a number of: four times what the largest whole number needs.
const maxNumber = 64

var (
	decimal     = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	hexadecimal = regexp.MustCompile(`^[+-]?0[xX][0-9a-fA-F]{1,13}$`)
)

// luaNumber converts a text. It is not sure of texts that Go reads otherwise than C, or one C library otherwise than another: infinity, hexadecimal
// fractions, what is too large, what has a zero byte in it.
func luaNumber(text string) (n lua.LNumber, ok, sure bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	bare := strings.ToLower(strings.TrimLeft(text, "+-"))
	switch {
	case len(text) > maxNumber:
		return 0, false, false
	case decimal.MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		return lua.LNumber(f), err == nil, err == nil
	case hexadecimal.MatchString(text):
		i, err := strconv.ParseInt(text, 0, 64)
		return lua.LNumber(i), err == nil, err == nil
	case bare == "":
		return 0, false, !strings.Contains(text, "\x00")
	case bare[0] >= '0' && bare[0] <= '9' || bare[0] == '.':
		return 0, false, !strings.ContainsAny(bare, "xp\x00")
	default:
		return 0, false, !strings.HasPrefix(bare, "inf") && !strings.HasPrefix(bare, "nan")
	}
}

// number converts a value as tonumber does. A symbol ends the run.
func (s *sandbox) number(v lua.LValue) (lua.LNumber, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return v, true
	case *lua.LUserData:
		if m, ok := madeOf(v); ok && m.number {
			return s.number(lua.LString(m.parts[0].text))
		}
		s.peekAt(s.symbolOf(v))
	case lua.LString:
		n, ok, sure := luaNumber(string(v))
		if !sure {
			s.stop("makes a number of a text of an unusual kind")
		}
		return n, ok
	}
	return 0, false
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

// arithmetic is an operator of which one side is a text: gopher-lua itself reads 010 as octal.
func (s *sandbox) arithmetic(result func(a, b float64) float64) lua.LGFunction {
	return func(vm *lua.LState) int {
		a, okA := s.number(vm.Get(1))
		b, okB := s.number(vm.Get(2))
		if !okA || !okB {
			return s.stop("calculates with what is not a number")
		}
		vm.Push(lua.LNumber(result(float64(a), float64(b))))
		return 1
	}
}

// operators are those of texts, by their events.
func (s *sandbox) operators() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"__add": s.arithmetic(func(a, b float64) float64 { return a + b }),
		"__sub": s.arithmetic(func(a, b float64) float64 { return a - b }),
		"__mul": s.arithmetic(func(a, b float64) float64 { return a * b }),
		"__div": s.arithmetic(func(a, b float64) float64 { return a / b }),
		"__unm": func(vm *lua.LState) int {
			n, ok := s.number(vm.Get(1))
			if !ok {
				return s.stop("calculates with what is not a number")
			}
			vm.Push(-n)
			return 1
		},
	}
}

// modulo is how Lua 5.1 writes it in C; the conversion keeps it from being fused into one operation.
func modulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// extreme is math.min or math.max.
func (s *sandbox) extreme(better func(a, b lua.LNumber) bool) lua.LGFunction {
	return func(vm *lua.LState) int {
		best, ok := s.number(vm.Get(1))
		for i := 2; i <= vm.GetTop() && ok; i++ {
			var n lua.LNumber
			if n, ok = s.number(vm.Get(i)); better(n, best) {
				best = n
			}
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
