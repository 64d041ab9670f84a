// The line #!lua flags=… with which a script may begin since Redis 7.

package commands

import (
	"bytes"
	"slices"
	"strings"
)

// errWriteFlag is for a script that says of itself that it may write, by a first line without no-writes.
const errWriteFlag Error = "ERR Can not execute a script with write flag using *_ro command."

var shebangFlags = []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// cutShebang reads the first line and takes it off, all but its end, so that lines are counted as before.
func cutShebang(body []byte) (text []byte, shebang, noWrites bool, err error) {
	if !bytes.HasPrefix(body, []byte("#!")) {
		return body, false, false, nil
	}
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		return nil, true, false, Error("ERR Invalid script shebang")
	}
	words := strings.Fields(string(body[:end]))
	if words[0] != "#!lua" {
		return nil, true, false, Error("ERR Unexpected engine in script shebang: " + clip(words[0]))
	}
	for _, option := range words[1:] {
		flags, ok := strings.CutPrefix(option, "flags=")
		if !ok {
			return nil, true, false, Error("ERR Unknown lua shebang option: " + clip(option))
		}
		if flags == "" {
			continue
		}
		for _, flag := range strings.Split(flags, ",") {
			if !slices.Contains(shebangFlags, flag) {
				return nil, true, false, Error("ERR Unexpected flag in script shebang: " + clip(flag))
			}
			noWrites = noWrites || flag == "no-writes"
		}
	}
	return body[end:], true, noWrites, nil
}
