// Tables: how they are walked, and that none can be filled up with one instruction.

package commands

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// indexGuard is the name of a function that no script can spell. guardIndexes puts it around every index that is stored at and not a
// name, because one such instruction may allocate a gigabyte (t[67108863] = 1 fills the table up).
const indexGuard = "(index)"

// guardIndexes walks a syntax tree.
func guardIndexes(node reflect.Value) {
	switch node.Kind() {
	case reflect.Interface:
		guardIndexes(node.Elem())
	case reflect.Slice:
		for i := range node.Len() {
			guardIndexes(node.Index(i))
		}
	case reflect.Pointer:
		if node.IsNil() {
			return
		}
		switch n := node.Interface().(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if element, ok := left.(*ast.AttrGetExpr); ok {
					element.Key = guarded(element.Key)
				}
			}
		case *ast.Field:
			n.Key = guarded(n.Key)
		}
		guardIndexes(node.Elem())
	case reflect.Struct:
		for i := range node.NumField() {
			if f := node.Field(i); node.Type().Field(i).IsExported() {
				guardIndexes(f)
			}
		}
	}
}

func guarded(key ast.Expr) ast.Expr {
	if key == nil {
		return nil
	}
	if _, ok := key.(*ast.StringExpr); ok {
		return key
	}
	name := &ast.IdentExpr{Value: indexGuard}
	call := &ast.FuncCallExpr{Func: name, Args: []ast.Expr{key}, AdjustRet: true}
	name.SetLine(key.Line())
	call.SetLine(key.Line())
	call.SetLastLine(key.LastLine())
	return call
}

func (s *sandbox) index(vm *lua.LState) int {
	key := vm.Get(1)
	if n, ok := key.(lua.LNumber); ok && !(n <= maxElements) {
		return s.stop("stores far into a table")
	}
	vm.Push(key)
	return 1
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

func (s *sandbox) pairs(vm *lua.LState) int {
	t := vm.CheckTable(1)
	vm.Push(vm.NewFunction(s.next))
	vm.Push(t)
	vm.Push(lua.LNil)
	return 3
}

// next walks only what has one order in every Lua: a list, or a single element.
func (s *sandbox) next(vm *lua.LState) int {
	t := vm.CheckTable(1)
	elements := 0
	t.ForEach(func(lua.LValue, lua.LValue) { elements++ })
	if elements > 1 && elements != t.MaxN() {
		return s.stop("walks a table that has no order")
	}
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
	if to = vm.OptInt(3, t.Len()); to-from >= maxElements {
		return s.stop("unpacks too large a table")
	}
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
	switch vm.GetTop() {
	case 2:
		if t.Len() >= maxElements {
			return s.stop("fills a table")
		}
		t.Append(vm.Get(2))
	case 3:
		at := vm.CheckInt(2)
		if at < 1 || at > t.Len()+1 || t.Len() >= maxElements {
			return s.stop("stores far into a table")
		}
		t.Insert(at, vm.Get(3))
	default:
		return s.stop("calls table.insert wrongly")
	}
	return 0
}

func (s *sandbox) length(vm *lua.LState) int {
	vm.Push(lua.LNumber(vm.CheckTable(1).Len()))
	return 1
}
