package servers

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// want asks one thing and compares the answer.
func want(t *testing.T, r *Redis, answer any, command string, args ...any) {
	t.Helper()
	got, err := r.Do(command, args...)
	if check(t, err); !reflect.DeepEqual(got, answer) {
		t.Fatalf("%s %v: %#v, want %#v", command, args, got, answer)
	}
}

func TestDo(t *testing.T) {
	r := start(t)
	want(t, r, "OK", "SET", "k", 7, "PX", int64(60_000), "NX")
	want(t, r, nil, "SET", "k", "v", "NX")
	want(t, r, "7", "GET", []byte("k"))
	want(t, r, int64(1), "EXISTS", "k")
	want(t, r, []any{"7", nil}, "MGET", "k", "none")
	want(t, r, []any{int64(1), []any{"a"}}, "EVAL", "return {1, {'a'}}", 0)
	if v, err := r.Do("INCR"); v != nil || err == nil || !strings.Contains(err.Error(), "wrong number of arguments") {
		t.Fatalf("%v, %v", v, err)
	}
	check(t, r.Flush())
	want(t, r, int64(0), "DBSIZE")
}

// What was written to the file outlives SIGKILL, whenever it is synced: the machine goes on, and has it in its memory.
func TestRestartRemembersIfAsked(t *testing.T) {
	for _, sync := range []string{"always", "everysec"} {
		t.Run(sync, func(t *testing.T) {
			r := start(t, "--appendonly", "yes", "--appendfsync", sync)
			want(t, r, "OK", "SET", "k", "v", "PX", 600_000)
			check(t, r.Kill())
			check(t, r.Restart())
			want(t, r, "v", "GET", "k")
			check(t, r.Flush())
			check(t, r.Restart())
			want(t, r, nil, "GET", "k")
		})
	}
}

// An old snapshot: what it knew comes back, also what was deleted since, and what came later is forgotten.
func TestRestartFromSnapshot(t *testing.T) {
	r := start(t, "--save", "3600 1")
	want(t, r, "OK", "SET", "early", "v")
	want(t, r, "OK", "SAVE")
	want(t, r, int64(1), "DEL", "early")
	want(t, r, "OK", "SET", "late", "v")
	check(t, r.Restart())
	want(t, r, []any{"v", nil}, "MGET", "early", "late")
}

// Another machine in its place remembers nothing, whatever it was told to keep.
func TestRemove(t *testing.T) {
	r := start(t, "--appendonly", "yes", "--appendfsync", "always", "--save", "3600 1")
	want(t, r, "OK", "SET", "k", "v")
	want(t, r, "OK", "SAVE")
	stored, err := os.ReadDir(r.dir)
	check(t, err)
	if !slices.ContainsFunc(stored, func(e os.DirEntry) bool { return e.Name() == "dump.rdb" }) || len(stored) < 2 {
		t.Fatalf("not both of snapshot and file: %v", stored)
	}
	addr := r.Addr
	check(t, r.Remove())
	if left, err := filepath.Glob(r.dir + "/*"); err != nil || len(left) > 0 {
		t.Fatalf("%v, %v", left, err)
	}
	check(t, r.Restart())
	want(t, r, nil, "GET", "k")
	if r.Addr != addr {
		t.Fatalf("%s became %s", addr, r.Addr)
	}
	want(t, r, "OK", "SET", "k", "v")
	check(t, r.Restart()) // and remembers from then on
	want(t, r, "v", "GET", "k")
}
