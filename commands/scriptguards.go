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
	// joinGuard is .., and the others are == and an index in a script that makes texts or publishes: see scriptmade.go.
	joinGuard  = "(join)"
	equalGuard = "(equal)"
	readGuard  = "(read)"
)

// guard walks the syntax tree of a script that makes texts or not, and says whether it fills tables by index or by name.
func guard(node reflect.Value, makes bool) (keyed bool) {
	switch node.Kind() {
	case reflect.Interface:
		keyed = guard(node.Elem(), makes)
		if e, ok := node.Interface().(ast.Expr); ok {
			node.Set(reflect.ValueOf(guardedExpr(e, makes)))
		}
	case reflect.Slice:
		for i := range node.Len() {
			keyed = guard(node.Index(i), makes) || keyed
		}
	case reflect.Pointer:
		if node.IsNil() {
			return false
		}
		keyed = guard(node.Elem(), makes)
		switch n := node.Interface().(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if element, ok := left.(*ast.AttrGetExpr); ok {
					element.Key, keyed = guardedIndex(element.Key, indexGuard), true
				}
			}
		case *ast.Field:
			if _, name := n.Key.(*ast.StringExpr); n.Key != nil && !name {
				n.Key, keyed = guardedIndex(n.Key, indexGuard), true
			}
		}
	case reflect.Struct:
		for i := range node.NumField() {
			if f := node.Field(i); node.Type().Field(i).IsExported() {
				keyed = guard(f, makes) || keyed
			}
		}
	}
	return keyed
}

// guardedExpr is what stands for an expression whose own parts have been guarded.
func guardedExpr(e ast.Expr, makes bool) ast.Expr {
	switch e := e.(type) {
	case *ast.UnaryLenOpExpr:
		return guarded(lengthGuard, e, e.Expr)
	case *ast.ArithmeticOpExpr:
		if e.Operator == "%" {
			return guarded(moduloGuard, e, e.Lhs, e.Rhs)
		}
	case *ast.StringConcatOpExpr:
		a, okA := e.Lhs.(*ast.StringExpr)
		b, okB := e.Rhs.(*ast.StringExpr)
		if okA && okB && len(a.Value)+len(b.Value) <= maxText {
			both := &ast.StringExpr{Value: a.Value + b.Value}
			both.SetLine(e.Line())
			return both
		}
		return guarded(joinGuard, e, e.Lhs, e.Rhs)
	case *ast.RelationalOpExpr:
		switch {
		case makes && e.Operator == "==":
			return guarded(equalGuard, e, e.Lhs, e.Rhs)
		case makes && e.Operator == "~=":
			not := &ast.UnaryNotOpExpr{Expr: guarded(equalGuard, e, e.Lhs, e.Rhs)}
			not.SetLine(e.Line())
			return not
		}
	case *ast.AttrGetExpr:
		if makes {
			e.Key = guardedIndex(e.Key, readGuard)
		}
	}
	return e
}

func guardedIndex(key ast.Expr, by string) ast.Expr {
	if _, ok := key.(*ast.StringExpr); ok {
		return key
	}
	return guarded(by, key, key)
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
	s.unmade(key)
	if n, ok := key.(lua.LNumber); ok && !(n <= maxElements) {
		return s.stop("stores far into a table")
	}
	vm.Push(key)
	return 1
}
