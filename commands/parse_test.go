package commands

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/parse.txt")

// TestParse: lines that begin with ">" are commands, those with "<" what they ask for. -update rewrites them.
func TestParse(t *testing.T) {
	const file = "testdata/parse.txt"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(golden)) {
		sent, is := strings.CutPrefix(line, "> ")
		if !is {
			continue
		}
		var args [][]byte
		for _, word := range strings.Fields(sent) {
			args = append(args, []byte(word))
		}
		var c Command
		err := c.Parse(args, NewScripts(1, 1000))
		fmt.Fprintf(&got, "> %s", sent)
		if err != nil {
			fmt.Fprintf(&got, "< %v\n", err)
			continue
		}
		fmt.Fprintf(&got, "< %s\n", shown(c))
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(golden) {
		t.Errorf("got\n%s\nwant\n%s", &got, golden)
	}
}

// shown is every field of a command that is not its zero value.
func shown(c Command) string {
	var b strings.Builder
	fmt.Fprint(&b, verbNames[c.Verb])
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		switch name {
		case "Verb", "Name", "Args", "DB":
			continue
		case "Compute":
			if c.Compute != nil {
				held, _ := c.Compute([]Seen{{Exists: true, Value: []byte("held")}, {}})
				fmt.Fprintf(&b, " Compute=%s", replyShown(held))
			}
			continue
		}
		if f.IsZero() {
			continue
		}
		switch value := f.Interface().(type) {
		case Reply:
			fmt.Fprintf(&b, " %s=%s", name, replyShown(value))
		case Expiry:
			fmt.Fprintf(&b, " %dms%s", value.MS, [...]string{"", "", "-since-1970"}[value.Kind])
		case Condition:
			fmt.Fprintf(&b, " %s", [...]string{"", "if-missing", "if-exists", "if-equal", "if-not-equal", "if-no-expiry", "if-expiry", "if-later", "if-sooner"}[value])
		case []byte, [][]byte:
			fmt.Fprintf(&b, " %s=%s", name, value)
		default:
			fmt.Fprintf(&b, " %s=%v", name, value)
		}
	}
	return b.String()
}

var verbNames = map[Verb]string{Take: "take", Overwrite: "overwrite", Release: "release", Extend: "extend", Get: "get", TTL: "ttl", PTTL: "pttl",
	Delete: "delete", Exists: "exists", Expire: "expire", Inspect: "inspect", ExpireTime: "expiretime", PExpireTime: "pexpiretime", DBSize: "size"}

func replyShown(r Reply) string {
	switch r.Kind {
	case ReplyInt:
		return fmt.Sprint(r.Int)
	case ReplyArray:
		all := make([]string, len(r.Items))
		for i, item := range r.Items {
			all[i] = replyShown(item)
		}
		return fmt.Sprint(all)
	case ReplyCount:
		return "count"
	case ReplyComputed:
		return "computed"
	case ReplyNil:
		return "nil"
	default:
		return string(r.Text)
	}
}

// Nil says that a SET NX GET was granted: it is never said of one that was denied.
func TestSetNXGetIsNeverNilWhenDenied(t *testing.T) {
	var c Command
	err := c.Parse([][]byte{[]byte("SET"), []byte("k"), []byte("t"), []byte("GET"), []byte("NX")}, nil)
	if err != nil || c.Verb != Take || c.Other.Kind != ReplyComputed {
		t.Fatalf("%+v %v", c, err)
	}
	if r, err := c.Compute([]Seen{{Exists: true, Value: []byte("held")}}); err != nil || string(r.Text) != "held" || r.Kind != ReplyBulk {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err := c.Compute([]Seen{{}}); err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
		t.Fatalf("%+v %v", r, err)
	}
}

// Every command of the table is answered when it is as long as its arity says, and every verb of locks has one.
func TestTable(t *testing.T) {
	for _, s := range Specs() {
		for n := range 5 {
			args := [][]byte{[]byte(s.Name)}
			for range n {
				args = append(args, []byte("1"))
			}
			err := new(Command).Parse(args, NewScripts(1, 1000))
			fits := s.Arity == len(args) || s.Arity < 0 && len(args) >= -s.Arity
			if refused := err == WrongArity(s.Name); !fits && !refused {
				t.Errorf("%s with %d arguments: %v", s.Name, n, err)
			}
			if err != nil && strings.HasPrefix(err.Error(), "ERR unknown command") {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
		if s.Name != strings.ToLower(s.Name) || s.Summary == "" || s.Group == "" || len(s.Name) > maxName {
			t.Errorf("%+v", s)
		}
	}
}

// FuzzParse: whatever is sent, what comes out is an error of one line, or a command that a round can be made of.
func FuzzParse(f *testing.F) {
	golden, err := os.ReadFile("testdata/parse.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		if sent, is := strings.CutPrefix(line, "> "); is {
			f.Add(strings.TrimSpace(sent))
		}
	}
	f.Add("MSETEX 2 k v l w KEEPTTL NX")
	f.Add("MEMORY USAGE k SAMPLES 5")
	f.Fuzz(func(t *testing.T, line string) {
		var args [][]byte
		for _, word := range strings.Split(line, " ") {
			args = append(args, []byte(word))
		}
		var c Command
		err := c.Parse(args, NewScripts(1, 1000))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%q: %q", line, err)
			}
			return
		}
		if _, err := KeysOf(args); err != nil && strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q: %q", line, err)
		}
		Known(args)
		if !c.Verb.OfLocks() || c.Verb == DBSize {
			return
		}
		many := c.Verb == Delete && c.If == Always && !c.Old || c.Verb == Exists || c.Verb == Inspect
		switch {
		case (c.Key == nil) == (len(c.Keys) == 0), many && c.Keys == nil:
			t.Errorf("%q: key %q, keys %q", line, c.Key, c.Keys)
		case c.Tokens != nil && len(c.Tokens) != len(c.Keys):
			t.Errorf("%q: keys %q, tokens %q", line, c.Keys, c.Tokens)
		case (c.Compute != nil) != (c.Verb == Inspect || c.Other.Kind == ReplyComputed):
			t.Errorf("%q: nothing to compute with", line)
		case (c.Was != nil) != (c.If == IfEqual || c.If == IfNotEqual):
			t.Errorf("%q: compared with %q", line, c.Was)
		}
	})
}
