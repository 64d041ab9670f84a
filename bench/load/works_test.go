package load

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the other works send, before the row and in it, and what they take for a right answer.
func TestWorksOnTheWire(t *testing.T) {
	const take, script = "SET lock:0007 holder NX PX 30000", "SCRIPT LOAD"
	for _, c := range []struct {
		work    Work
		before  string // asked before the row
		command string
		right   []string // answers
		wrong   string   // one that is not
	}{
		{Refused, take, "SET lock:0007 token:0007:0000000001 NX PX 30000", []string{"$-1\r\n", "$-1\r\n"}, "+OK\r\n"},
		{Get, take, "GET lock:0007", []string{"$6\r\nholder\r\n", "$6\r\nholder\r\n"}, "$-1\r\n"},
		{PTTL, take, "PTTL lock:0007", []string{":30000\r\n", ":1\r\n"}, ":30001\r\n"},
		{PTTL, take, "PTTL lock:0007", []string{":29999\r\n", ":15\r\n"}, ":0\r\n"},
		{PTTL, take, "PTTL lock:0007", []string{":3\r\n", ":20000\r\n"}, ":-2\r\n"},
		{PTTL, take, "PTTL lock:0007", []string{":3\r\n", ":20000\r\n"}, ":123456789\r\n"},
		{PTTL, take, "PTTL lock:0007", []string{":3\r\n", ":20000\r\n"}, "$1\r\n1\r\n"},
		{Contended, script, "SET lock token:0007:0000000000 NX PX 30000", []string{"$-1\r\n", "$-1\r\n"}, "-NOQUORUM\r\n"},
	} {
		for _, piece := range []int{1, 3, 100} {
			var mu sync.Mutex
			var seen []string
			addr := serve(t, piece, func(n int, args []string) string {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case n == 0 && c.before == script:
					return "$40\r\n" + sha(Release) + "\r\n"
				case n == 0:
					seen = append(seen, strings.Join(args, " "))
					return "+OK\r\n"
				}
				seen = append(seen, strings.Join(args, " "))
				return append(slices.Clone(c.right), c.wrong, c.right[0])[n-1]
			})
			w := dial(t, Wire{Addr: addr, Work: c.work, Pipeline: 1, Keys: "lock"})
			var bad []int
			for range 4 {
				_, b, err := w.Step()
				if err != nil {
					t.Fatal(c.work, err)
				}
				bad = append(bad, b)
			}
			if !slices.Equal(bad, []int{0, 0, 1, 0}) || w.Wrong() == "" {
				t.Errorf("%s, %q in pieces of %d: wrong answers %d, %s", c.work, c.wrong, piece, bad, w.Wrong())
			}
			mu.Lock()
			if !slices.Contains(seen, c.command) || c.before == take && seen[0] != take {
				t.Errorf("%s sent %q", c.work, seen)
			}
			mu.Unlock()
		}
	}
}

// A key that cannot be taken before the row is an error: the row would measure something else.
func TestHeldKeyMustBeHeld(t *testing.T) {
	addr := serve(t, 100, func(int, []string) string { return "$-1\r\n" })
	if _, err := (Wire{Addr: addr, Work: Get, Pipeline: 1, Keys: "lock"}).Dial(0); err == nil || !strings.Contains(err.Error(), "SET lock:0000 was answered (nil)") {
		t.Fatal(err)
	}
	if _, err := (Wire{Addr: addr, Work: Contended, Pipeline: 2}).Dial(0); err == nil {
		t.Fatal("a poller with a pipeline")
	}
}

// Three poll one key; of their takes some are granted, each of which is released.
func TestContended(t *testing.T) {
	var mu sync.Mutex
	holder := ""
	takes, releases := 0, 0
	addr := serve(t, 100, func(_ int, args []string) string {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case args[0] == "SCRIPT":
			return "$40\r\n" + sha(Release) + "\r\n"
		case args[0] == "SET" && holder == "":
			holder = args[2]
			takes++
			return "+OK\r\n"
		case args[0] == "SET":
			return "$-1\r\n"
		case holder == args[4]:
			holder = ""
			releases++
			return ":1\r\n"
		}
		return ":0\r\n"
	})
	plan := Plan{Clients: 3, Measure: 100 * time.Millisecond, Dial: Wire{Addr: addr, Work: Contended, Pipeline: 1, Keys: "lock"}.Dial}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 0 || r.Granted == 0 || r.Granted >= r.Ops {
		t.Fatalf("%+v, %v", r, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if takes != releases || uint64(takes) < r.Granted {
		t.Fatalf("%d takes, %d releases, %d granted", takes, releases, r.Granted)
	}
}

// A release that finds another's key: two were let in.
func TestTwoHoldersAreSeen(t *testing.T) {
	addr := serve(t, 100, func(_ int, args []string) string {
		switch args[0] {
		case "SCRIPT":
			return "$40\r\n" + sha(Release) + "\r\n"
		case "SET":
			return "+OK\r\n"
		}
		return ":0\r\n"
	})
	w := dial(t, Wire{Addr: addr, Work: Contended, Pipeline: 1, Keys: "lock"})
	if good, bad, err := w.Step(); good != 0 || bad != 1 || err != nil || w.Wrong() != "got (integer) 0, want :1" {
		t.Fatal(good, bad, err, w.Wrong())
	}
}
