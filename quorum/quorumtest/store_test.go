package quorumtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// scanAll is every key that a scan returns, and in how many batches.
func (f fixture) scanAll(each func(), words ...any) (found map[string]int, batches int) {
	f.Helper()
	found = map[string]int{}
	cursor := "0"
	for {
		reply, err := redis.Values(f.conn.Do("SCAN", append([]any{cursor}, words...)...))
		if err != nil {
			f.Fatal(err)
		}
		var keys []string
		if _, err := redis.Scan(reply, &cursor, &keys); err != nil {
			f.Fatal(err)
		}
		for _, k := range keys {
			found[k]++
		}
		batches++
		if cursor == "0" {
			return found, batches
		}
		if batches > 1000 {
			f.Fatal("the scan does not end")
		}
		each()
	}
}

func TestScan(t *testing.T) {
	inBubble(t, func(f fixture) {
		nothing := func() {}
		if found, batches := f.scanAll(nothing); len(found) != 0 || batches != 1 {
			t.Fatal(found, batches)
		}
		for i := range 105 {
			f.node.Put(fmt.Sprintf("key:%d", i), "v", 0)
		}
		f.node.Put("other", "v", ms)
		for count, batches := range map[int]int{1: 106, 10: 11, 53: 2, 105: 2, 106: 1, 1000: 1} {
			found, n := f.scanAll(nothing, "COUNT", count)
			if len(found) != 106 || n != batches {
				t.Errorf("COUNT %d: %d keys in %d batches, want 106 in %d", count, len(found), n, batches)
			}
		}
		if found, n := f.scanAll(nothing); len(found) != 106 || n != 11 {
			t.Errorf("%d keys in %d batches", len(found), n)
		}
		if found, _ := f.scanAll(nothing, "MATCH", "key:1?", "TYPE", "string"); len(found) != 10 {
			t.Error(found)
		}
		if found, n := f.scanAll(nothing, "TYPE", "hash"); len(found) != 0 || n != 11 {
			t.Error(found, n)
		}
		f.node.Step(ms)
		if found, _ := f.scanAll(nothing); len(found) != 105 {
			t.Error("a key that has ended is found")
		}
		for _, c := range []string{"SCAN x", "SCAN 0 COUNT", "SCAN 0 COUNT 0", "SCAN 0 COUNT x", "SCAN 0 NOPE 1"} {
			if got := f.do(words(c)...); !strings.HasPrefix(got, "-ERR ") {
				t.Errorf("%s: %s", c, got)
			}
		}
	})
}

func words(command string) (args []any) {
	for _, w := range strings.Split(command, " ") {
		args = append(args, w)
	}
	return args
}

// Keys of one slot, which a cursor cannot tell apart, come together.
func TestScanDoesNotDivideASlot(t *testing.T) {
	inBubble(t, func(f fixture) {
		for _, key := range []string{"costarring", "liquid", "declinate", "macallums", "k"} {
			f.node.Put(key, "v", 0)
		}
		if slot("costarring") != slot("liquid") || slot("declinate") != slot("macallums") {
			t.Fatal("these are of one slot no more: find others")
		}
		if found, batches := f.scanAll(func() {}, "COUNT", 1); len(found) != 5 || batches != 3 {
			t.Error(found, batches)
		}
	})
}

// Whatever comes and goes meanwhile, a key that stands during the whole scan is found.
func TestScanFindsWhatStands(t *testing.T) {
	for seed := range uint64(20) {
		inBubble(t, func(f fixture) {
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range 50 {
				f.node.Put(fmt.Sprintf("stands:%d", i), "v", 0)
			}
			restless := func() {
				for range 20 {
					if key := fmt.Sprintf("moves:%d", r.IntN(50)); r.IntN(2) == 0 {
						f.want("SET "+key+" v", "+OK")
					} else {
						f.do("DEL", key)
					}
				}
			}
			restless()
			found, _ := f.scanAll(restless, "COUNT", 1+r.IntN(9))
			for i := range 50 {
				if found[fmt.Sprintf("stands:%d", i)] != 1 {
					t.Fatalf("seed %d: stands:%d was found %d times", seed, i, found[fmt.Sprintf("stands:%d", i)])
				}
			}
		})
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b\xff", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"a?", "a", false}, {`a\*`, "a*", true}, {`a\*`, "ab", false}, {`a\`, `a\`, true},
		{"redlockd:*", "redlockd:boot", true}, {"redlockd:*", "redlockd", false},
	} {
		if got := match(c.pattern, c.s); got != c.want {
			t.Errorf("%q like %q: %v", c.s, c.pattern, got)
		}
	}
}
