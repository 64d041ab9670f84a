// Tables: how they are walked, and how long they are.

package commands

import lua "github.com/yuin/gopher-lua"

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

func (s *sandbox) pairs(vm *lua.LState) int {
	t := vm.CheckTable(1)
	vm.Push(vm.NewFunction(s.next))
	vm.Push(t)
	vm.Push(lua.LNil)
	return 3
}

// cheaper is how many elements can be looked at in the time of an instruction.
const cheaper = 8

// next walks only what has one order in every Lua: a list that was not filled by index, in whatever order.
func (s *sandbox) next(vm *lua.LState) int {
	t := vm.CheckTable(1)
	s.spend(t.MaxN())
	elements := 0
	t.ForEach(func(lua.LValue, lua.LValue) { elements++ })
	switch {
	case t.Metatable != lua.LNil:
		return s.stop("walks a table that is not its own")
	case elements != t.MaxN(), elements > 1 && s.keyed:
		return s.stop("walks a table that has no order")
	}
	s.unmade(vm.Get(2))
	key, value := t.Next(vm.Get(2))
	vm.Push(key)
	if key == lua.LNil {
		return 1
	}
	vm.Push(value)
	return 2
}

func (s *sandbox) unpack(vm *lua.LState) int {
	t, from, to := vm.CheckTable(1), vm.OptInt(2, 1), 0
	if to = vm.OptInt(3, s.lengthOf(t)); to-from >= maxElements {
		return s.stop("unpacks too large a table")
	}
	s.spend(max(to-from, 0) / cheaper)
	for i := from; i <= to; i++ {
		vm.Push(t.RawGetInt(i))
	}
	return max(to-from+1, 0)
}

// choice is select.
func (s *sandbox) choice(vm *lua.LState) int {
	n := vm.GetTop()
	if mark, ok := vm.Get(1).(lua.LString); ok && mark == "#" {
		vm.Push(lua.LNumber(n - 1))
		return 1
	}
	i, ok := s.number(vm.Get(1))
	if !ok || i < 1 {
		return s.stop("selects none of its values")
	}
	return max(n-int(min(i, lua.LNumber(n))), 0)
}

func (s *sandbox) insert(vm *lua.LState) int {
	t := vm.CheckTable(1)
	n := s.lengthOf(t)
	switch vm.GetTop() {
	case 2:
		if n >= maxElements {
			return s.stop("fills a table")
		}
		t.Append(vm.Get(2))
	case 3:
		at := vm.CheckInt(2)
		if at < 1 || at > n+1 || n >= maxElements {
			return s.stop("stores far into a table")
		}
		t.Insert(at, vm.Get(3))
	default:
		return s.stop("calls table.insert wrongly")
	}
	return 0
}

// length is the operator #, and table.getn.
func (s *sandbox) length(vm *lua.LState) int {
	switch v := vm.Get(1).(type) {
	case *lua.LTable:
		vm.Push(lua.LNumber(s.lengthOf(v)))
	case lua.LString:
		vm.Push(lua.LNumber(len(v)))
	case *lua.LUserData:
		return s.peekAt(s.symbolOf(v))
	default:
		return s.stop("takes the length of a " + v.Type().String())
	}
	return 1
}

// lengthOf is the one border that a list has. A table with holes has several, and each Lua finds another one.
func (s *sandbox) lengthOf(t *lua.LTable) int {
	n := t.MaxN()
	s.spend(n / cheaper)
	for i := 1; i < n; i++ {
		if t.RawGetInt(i) == lua.LNil {
			return s.stop("takes the length of a table with holes")
		}
	}
	if t.Metatable != lua.LNil {
		return s.stop("takes the length of a table that is not its own")
	}
	return n
}
