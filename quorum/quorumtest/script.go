package quorumtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Scripts run for real. Known differences from a node: a number that becomes a text by .. or tostring keeps all its
// digits (a node keeps 14, so that microseconds since 1970 lose some); the error of a command is not followed by the
// name of the script, and Lua's own pcall gets a table of it; there are no cjson, cmsgpack, struct and bit.

var (
	// scripts that any node was ever given: text by hash. ForgetScripts clears it.
	scripts sync.Map
	// compiled is what every node runs: *lua.FunctionProto by hash. It is never cleared.
	compiled sync.Map
)

// ForgetScripts is SCRIPT FLUSH on every node.
func ForgetScripts() { scripts.Clear() }

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// scriptCommand is SCRIPT LOAD, SCRIPT EXISTS and SCRIPT FLUSH. The last is that of every node.
func (n *Node) scriptCommand(_ net.Conn, args []string) string {
	switch sub := strings.ToUpper(args[1]); {
	case sub == "LOAD" && len(args) == 3:
		if _, err := compile(args[2]); err != nil {
			return errorReply("ERR Error compiling script (new function): " + err.Error())
		}
		scripts.Store(hash(args[2]), args[2])
		return bulkReply(hash(args[2]))
	case sub == "EXISTS":
		out := fmt.Sprintf("*%d\r\n", len(args)-2)
		for _, h := range args[2:] {
			if _, ok := scripts.Load(strings.ToLower(h)); ok {
				out += intReply(1)
			} else {
				out += intReply(0)
			}
		}
		return out
	case sub == "FLUSH":
		ForgetScripts()
		return okReply
	default:
		return errorReply("ERR unknown subcommand or wrong number of arguments for '" + args[1] + "'")
	}
}

func compile(text string) (*lua.FunctionProto, error) {
	h := hash(text)
	if proto, ok := compiled.Load(h); ok {
		return proto.(*lua.FunctionProto), nil
	}
	chunk, err := parse.Parse(strings.NewReader(text), "user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	compiled.Store(h, proto)
	return proto, nil
}

// evalCommand is EVAL and EVALSHA. Both leave the script known.
func (n *Node) evalCommand(_ net.Conn, args []string) string {
	text := args[1]
	if args[0] == "EVALSHA" {
		known, ok := scripts.Load(strings.ToLower(args[1]))
		if !ok {
			return errorReply("NOSCRIPT No matching script. Please use EVAL.")
		}
		text = known.(string)
	}
	keys, err := strconv.Atoi(args[2])
	switch {
	case err != nil:
		return errorReply(notANumber)
	case keys < 0:
		return errorReply("ERR Number of keys can't be negative")
	case keys > len(args)-3:
		return errorReply("ERR Number of keys can't be greater than number of args")
	}
	proto, err := compile(text)
	if err != nil {
		return errorReply("ERR Error compiling script (new function): " + err.Error())
	}
	scripts.Store(hash(text), text)
	return n.eval(proto, args[3:3+keys], args[3+keys:])
}

// eval runs a script in the node's Lua state, with n.mu held: at no time do two of them run in one state.
func (n *Node) eval(proto *lua.FunctionProto, keys, argv []string) string {
	if n.lua == nil {
		n.lua = n.newState()
	}
	l := n.lua
	l.G.Global.RawSetString("KEYS", texts(l, keys))
	l.G.Global.RawSetString("ARGV", texts(l, argv))
	l.Push(l.NewFunctionFromProto(proto))
	err := l.PCall(0, 1, nil)
	defer l.SetTop(0)
	if err != nil {
		return raised(err)
	}
	var b strings.Builder
	toReply(&b, l.Get(-1))
	return b.String()
}

// raised is the reply to a script that ended with an error: that of the command, or one of Lua's.
func raised(err error) string {
	failed, ok := err.(*lua.ApiError)
	if !ok {
		return errorReply("ERR " + err.Error())
	}
	if t, ok := failed.Object.(*lua.LTable); ok {
		if text, ok := t.RawGetString("err").(lua.LString); ok {
			return errorReply(string(text))
		}
	}
	return errorReply("ERR " + failed.Object.String())
}

func texts(l *lua.LState, all []string) *lua.LTable {
	t := l.CreateTable(len(all), 0)
	for i, s := range all {
		t.RawSetInt(i+1, lua.LString(s))
	}
	return t
}

// newState is as much of Lua as a node has. Scripts that run in it one after the other leave nothing behind: they
// can make no global variable.
func (n *Node) newState() *lua.LState {
	l := lua.NewState(lua.Options{SkipOpenLibs: true, RegistryMaxSize: 1 << 20, RegistryGrowStep: 4096})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	global := l.G.Global
	for _, name := range []string{"dofile", "loadfile", "module", "newproxy", "print", "_printregs", "require"} {
		global.RawSetString(name, lua.LNil)
	}
	global.RawSetString("unpack", l.NewFunction(unpack))
	api := l.NewTable()
	l.SetFuncs(api, map[string]lua.LGFunction{
		"call":         func(l *lua.LState) int { return n.call(l, true) },
		"pcall":        func(l *lua.LState) int { return n.call(l, false) },
		"error_reply":  errorTable,
		"status_reply": func(l *lua.LState) int { return single(l, "ok", l.CheckString(1)) },
		"sha1hex":      func(l *lua.LState) int { l.Push(lua.LString(hash(l.CheckString(1)))); return 1 },
	})
	global.RawSetString("redis", api)
	guard := l.NewTable()
	l.SetFuncs(guard, map[string]lua.LGFunction{
		"__newindex": func(l *lua.LState) int {
			l.RaiseError("Attempt to modify a readonly table")
			return 0
		},
		"__index": func(l *lua.LState) int {
			l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
			return 0
		},
	})
	global.Metatable = guard
	l.SetTop(0)
	return l
}

// maxUnpacked is how many values unpack returns at most on a node (LUAI_MAXCSTACK).
const maxUnpacked = 8000

func unpack(l *lua.LState) int {
	t := l.CheckTable(1)
	from, to := l.OptInt(2, 1), l.OptInt(3, t.Len())
	if to-from+1 >= maxUnpacked {
		l.RaiseError("too many results to unpack")
	}
	for i := from; i <= to; i++ {
		l.Push(t.RawGetInt(i))
	}
	return max(0, to-from+1)
}

// single is a table of one field.
func single(l *lua.LState, name, value string) int {
	t := l.NewTable()
	t.RawSetString(name, lua.LString(value))
	l.Push(t)
	return 1
}

// errorTable is redis.error_reply, which makes a code of the first of several words.
func errorTable(l *lua.LState) int {
	text := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	return single(l, "err", text)
}

// call is redis.call, or redis.pcall, which does not raise errors.
func (n *Node) call(l *lua.LState, raise bool) int {
	args := make([]string, l.GetTop())
	reply := ""
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = strconv.FormatFloat(float64(v), 'g', 17, 64)
		default:
			reply = errorReply("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	switch {
	case len(args) == 0:
		reply = errorReply("ERR Please specify at least one argument for this redis lib call")
	case reply == "":
		reply = n.carryOut(args, nil)
	}
	value, _ := fromReply(l, reply)
	if raise && reply[0] == '-' {
		l.Error(value, 1)
	}
	l.Push(value)
	return 1
}

// fromReply is the first reply in r as Lua sees it, and the rest of r.
func fromReply(l *lua.LState, r string) (lua.LValue, string) {
	line, rest, _ := strings.Cut(r[1:], "\r\n")
	switch r[0] {
	case '+', '-':
		t := l.NewTable()
		t.RawSetString(map[byte]string{'+': "ok", '-': "err"}[r[0]], lua.LString(line))
		return t, rest
	}
	size, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		panic("quorumtest: a reply of ours: " + r)
	}
	switch {
	case r[0] == ':':
		return lua.LNumber(size), rest
	case size < 0:
		return lua.LFalse, rest
	case r[0] == '$':
		return lua.LString(rest[:size]), rest[size+2:]
	}
	t := l.CreateTable(int(size), 0)
	for i := range int(size) {
		var v lua.LValue
		v, rest = fromReply(l, rest)
		t.RawSetInt(i+1, v)
	}
	return t, rest
}

// toReply is what a client sees of a value of Lua: numbers lose their fraction, and tables end at their first nil.
func toReply(b *strings.Builder, v lua.LValue) {
	switch v := v.(type) {
	case lua.LNumber:
		b.WriteString(intReply(int64(v)))
	case lua.LString:
		b.WriteString(bulkReply(string(v)))
	case lua.LBool:
		if v {
			b.WriteString(intReply(1))
		} else {
			b.WriteString(nilReply)
		}
	case *lua.LTable:
		if text, ok := v.RawGetString("err").(lua.LString); ok {
			b.WriteString(errorReply(string(text)))
			return
		}
		if text, ok := v.RawGetString("ok").(lua.LString); ok {
			b.WriteString("+" + errorReply(string(text))[1:])
			return
		}
		size := 0
		for v.RawGetInt(size+1) != lua.LNil {
			size++
		}
		fmt.Fprintf(b, "*%d\r\n", size)
		for i := range size {
			toReply(b, v.RawGetInt(i+1))
		}
	default:
		b.WriteString(nilReply)
	}
}
