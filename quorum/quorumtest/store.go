package quorumtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// store is the memory of a node: the few commands that a lock needs.
type store map[string]entry

type entry struct {
	value string
	ends  time.Time // zero: never
}

func (s store) get(key string) (string, bool) {
	e, ok := s[key]
	if ok && !e.ends.IsZero() && !time.Now().Before(e.ends) {
		delete(s, key)
		ok = false
	}
	return e.value, ok
}

func (s store) set(key, value string, life time.Duration) {
	e := entry{value: value}
	if life > 0 {
		e.ends = time.Now().Add(life)
	}
	s[key] = e
}

func (s store) pttl(key string) int64 {
	switch _, ok := s.get(key); {
	case !ok:
		return -2
	case s[key].ends.IsZero():
		return -1
	default:
		return time.Until(s[key].ends).Milliseconds()
	}
}

// scripts that any node was ever given: text by hash. None is forgotten.
var scripts sync.Map

const (
	nilReply = "$-1\r\n"
	okReply  = "+OK\r\n"
)

func intReply(n int64) string   { return fmt.Sprintf(":%d\r\n", n) }
func bulkReply(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// execute carries out a command, with n.mu held.
func (n *Node) execute(args []string, c net.Conn) []byte {
	args[0] = strings.ToUpper(args[0])
	n.seen = append(n.seen, args)
	switch args[0] {
	case "CLIENT":
		return []byte(n.client(args[1:], c))
	case "INFO":
		return []byte(bulkReply(fmt.Sprintf("redis_version:0.0.0-simulated\r\nrun_id:%d\r\n", n.instance)))
	}
	if n.refuse != "" && args[0] != "SCRIPT" {
		return []byte("-" + n.refuse + "\r\n")
	}
	return []byte(n.store.command(args))
}

// client is CLIENT ID and CLIENT KILL ID, with n.mu held.
func (n *Node) client(args []string, c net.Conn) string {
	if args[0] == "ID" {
		return intReply(n.conns[c])
	}
	for other, id := range n.conns {
		if strconv.FormatInt(id, 10) == args[2] {
			delete(n.conns, other)
			other.Close()
			return intReply(1)
		}
	}
	return intReply(0)
}

func (s store) command(args []string) string {
	switch args[0] {
	case "SCRIPT":
		scripts.Store(hash(args[2]), args[2])
		return bulkReply(hash(args[2]))
	case "EVALSHA":
		text, ok := scripts.Load(args[1])
		if !ok {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return s.eval(text.(string), args[3:])
	case "EVAL":
		return s.eval(args[1], args[3:])
	case "SET":
		return s.setCommand(args)
	case "GET":
		if v, ok := s.get(args[1]); ok {
			return bulkReply(v)
		}
		return nilReply
	case "PTTL":
		return intReply(s.pttl(args[1]))
	case "DBSIZE":
		return intReply(int64(len(s)))
	case "DEL", "EXISTS":
		return intReply(s.each(args[1:], args[0] == "DEL"))
	case "PEXPIRE":
		v, ok := s.get(args[1])
		if !ok {
			return intReply(0)
		}
		ms, _ := strconv.ParseInt(args[2], 10, 64)
		s.set(args[1], v, time.Duration(ms)*time.Millisecond)
		return intReply(1)
	default:
		return fmt.Sprintf("-ERR unknown command '%s'\r\n", args[0])
	}
}

func (s store) each(keys []string, remove bool) (found int64) {
	for _, k := range keys {
		if _, ok := s.get(k); ok {
			found++
			if remove {
				delete(s, k)
			}
		}
	}
	return found
}

func (s store) setCommand(args []string) string {
	var life time.Duration
	_, exists := s.get(args[1])
	for i := 3; i < len(args); i++ {
		switch args[i] {
		case "PX":
			i++
			ms, _ := strconv.ParseInt(args[i], 10, 64)
			life = time.Duration(ms) * time.Millisecond
		case "NX":
			if exists {
				return nilReply
			}
		case "XX":
			if !exists {
				return nilReply
			}
		}
	}
	s.set(args[1], args[2], life)
	return okReply
}

// eval runs a script of one key for real.
func (s store) eval(text string, keyAndArgs []string) string {
	l := lua.NewState()
	defer l.Close()
	keys, argv := l.NewTable(), l.NewTable()
	keys.Append(lua.LString(keyAndArgs[0]))
	for _, a := range keyAndArgs[1:] {
		argv.Append(lua.LString(a))
	}
	l.SetGlobal("KEYS", keys)
	l.SetGlobal("ARGV", argv)
	api := l.NewTable()
	api.RawSetString("call", l.NewFunction(func(l *lua.LState) int {
		args := make([]string, l.GetTop())
		for i := range args {
			args[i] = l.Get(i + 1).String()
		}
		l.Push(fromReply(s.command(args)))
		return 1
	}))
	l.SetGlobal("redis", api)
	if err := l.DoString(text); err != nil {
		return "-ERR " + strings.ReplaceAll(err.Error(), "\n", " ") + "\r\n"
	}
	return toReply(l.Get(-1))
}

func fromReply(r string) lua.LValue {
	body := strings.TrimSuffix(r[1:], "\r\n")
	switch {
	case r == nilReply:
		return lua.LFalse
	case r[0] == ':':
		n, _ := strconv.ParseInt(body, 10, 64)
		return lua.LNumber(n)
	case r[0] == '$':
		_, value, _ := strings.Cut(body, "\r\n")
		return lua.LString(value)
	default:
		return lua.LString(body)
	}
}

func toReply(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LNumber:
		return intReply(int64(v))
	case lua.LString:
		return bulkReply(string(v))
	case *lua.LTable:
		out := fmt.Sprintf("*%d\r\n", v.Len())
		for i := range v.Len() {
			out += toReply(v.RawGetInt(i + 1))
		}
		return out
	default:
		return nilReply
	}
}

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ForgetScripts is SCRIPT FLUSH on every node.
func ForgetScripts() { scripts.Clear() }
