package commands

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Keys of one script often begin alike. That they do must not keep a script that compares the beginnings of tokens from being known.
func TestKeysThatBeginAlike(t *testing.T) {
	body, err := os.ReadFile("testdata/scripts/take-many-own-prefix.lua")
	if err != nil {
		t.Fatal(err)
	}
	scripts := newTestScripts()
	for _, keys := range []string{"order:1 order:2 order:3", "o p q", "order:1 order:2 another", "orde order:1 order:2", "order:1 orde o"} {
		c, err := eval(scripts, body, words(strings.Fields(keys)...), words("7fa30c11", "4", "30000"))
		if err != nil || c.Verb != Take || len(c.Keys) != 3 {
			t.Errorf("%s: %v of %s, %v", keys, c.Verb, c.Keys, err)
		}
	}
	if _, err := eval(scripts, body, words("order:1", "order:2"), words("order66", "4", "30000")); err == nil {
		t.Error("a token that begins as the keys do, and no error")
	}
}

// What a script does may depend on whether its keys begin alike; then calls of both kinds are of two shapes.
func TestBeginningsOfKeysAreCompared(t *testing.T) {
	for _, body := range []string{
		"if string.sub(KEYS[1], 1, 3) == string.sub(KEYS[2], 1, 3) then return redis.call('del', KEYS[1]) end " +
			"return redis.call('set', KEYS[1], ARGV[1], 'PX', 1000)",
		"if string.sub(KEYS[2], 1, 3) == KEYS[1] then return redis.call('del', KEYS[1]) end " +
			"return redis.call('set', KEYS[1], ARGV[1], 'PX', 1000)",
	} {
		alike, apart := words("key", "key2"), words("key", "yek2")
		for _, order := range [][][][]byte{{alike, apart, alike}, {apart, alike, apart}} {
			scripts := newTestScripts()
			for _, keys := range order {
				// What it does with keys that do not is none of ours, and refused.
				deletes := slices.Equal(keys[1], alike[1])
				if c, err := eval(scripts, []byte(body), keys, words("tok")); (err == nil && c.Verb == Delete) != deletes {
					t.Errorf("%s: %v, %v", keys, c.Verb, err)
				}
			}
		}
	}
}
