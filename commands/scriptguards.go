// What is changed in the syntax tree of a script before it is compiled: where one instruction could take all memory, and where
// gopher-lua calculates otherwise than Lua does, a function of ours stands instead.

package commands

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// The names of functions that no script can spell.
const (
	// indexGuard stands around every index that is stored at and not a name, because one such instruction may allocate a
	// gigabyte (t[67108863] = 1 fills the table up).
	indexGuard = "(index)"
	// lengthGuard is #: of a table with holes, Lua and gopher-lua find different lengths.
	lengthGuard = "(length)"
	// moduloGuard is %: of large and of infinite numbers, gopher-lua has another remainder.
	moduloGuard = "(modulo)"
)

// guard walks a syntax tree, and says whether tables are filled by index or by name in it.
func guard(node reflect.Value) (keyed bool) {
	switch node.Kind() {
	case reflect.Interface:
		switch n := node.Interface().(type) {
		case *ast.UnaryLenOpExpr:
			node.Set(reflect.ValueOf(guarded(lengthGuard, n, n.Expr)))
		case *ast.ArithmeticOpExpr:
			if n.Operator == "%" {
				node.Set(reflect.ValueOf(guarded(moduloGuard, n, n.Lhs, n.Rhs)))
			}
		}
		return guard(node.Elem())
	case reflect.Slice:
		for i := range node.Len() {
			keyed = guard(node.Index(i)) || keyed
		}
	case reflect.Pointer:
		if node.IsNil() {
			return false
		}
		switch n := node.Interface().(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if element, ok := left.(*ast.AttrGetExpr); ok {
					element.Key, keyed = guardedIndex(element.Key), true
				}
			}
		case *ast.Field:
			if _, name := n.Key.(*ast.StringExpr); n.Key != nil && !name {
				n.Key, keyed = guardedIndex(n.Key), true
			}
		}
		return guard(node.Elem()) || keyed
	case reflect.Struct:
		for i := range node.NumField() {
			if f := node.Field(i); node.Type().Field(i).IsExported() {
				keyed = guard(f) || keyed
			}
		}
	}
	return keyed
}

func guardedIndex(key ast.Expr) ast.Expr {
	if _, ok := key.(*ast.StringExpr); ok {
		return key
	}
	return guarded(indexGuard, key, key)
}

// guarded is a call that stands at the place of an expression.
func guarded(by string, at ast.PositionHolder, args ...ast.Expr) ast.Expr {
	name := &ast.IdentExpr{Value: by}
	call := &ast.FuncCallExpr{Func: name, Args: args, AdjustRet: true}
	name.SetLine(at.Line())
	call.SetLine(at.Line())
	call.SetLastLine(at.LastLine())
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
