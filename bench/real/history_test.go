package real

// A black-box check of mutual exclusion: clients write down what they were told, and nothing else is looked at.

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tenure is one grant as its client saw it, a take or an extend.
//
// All times are the client's, and each errs toward the shorter tenure, so that what overlaps here did overlap: told is
// read after the answer was, asked before the request was sent, and released before the release was sent. A request
// that was denied, failed, or was not answered is no tenure.
type tenure struct {
	client, key, token string
	asked, told        time.Time
	ttl                time.Duration // for how long the client takes it to be valid, from asked on
	released           time.Time     // zero: never
}

// end is when the client stopped to rely on it.
func (r tenure) end() time.Time {
	end := r.asked.Add(r.ttl)
	if !r.released.IsZero() && r.released.Before(end) {
		return r.released
	}
	return end
}

func (r tenure) sameHolder(other tenure) bool {
	return r.client == other.client && r.token == other.token
}

func (r tenure) String() string {
	const clock = "15:04:05.000000"
	released := "not released"
	if !r.released.IsZero() {
		released = "released " + r.released.Format(clock)
	}
	return fmt.Sprintf("%s held %q with %q: asked %s, told %s, ttl %v, %s, valid until %s",
		r.client, r.key, r.token, r.asked.Format(clock), r.told.Format(clock), r.ttl, released, r.end().Format(clock))
}

// history is what all clients of a test were granted. Its methods may be called by all of them.
type history struct {
	mu      sync.Mutex
	tenures []tenure
}

// granted is called once a take or an extend was answered with yes; told is the time of the call.
func (h *history) granted(client, key, token string, asked time.Time, ttl time.Duration) {
	h.add(tenure{client: client, key: key, token: token, asked: asked, told: time.Now(), ttl: ttl})
}

func (h *history) add(r tenure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tenures = append(h.tenures, r)
}

// releasing is called right before a release is sent: whatever becomes of it, the client no longer relies on the lock.
func (h *history) releasing(client, key, token string) { h.releasedAt(client, key, token, time.Now()) }

func (h *history) releasedAt(client, key, token string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.tenures {
		r := &h.tenures[i]
		if r.client == client && r.key == key && r.token == token && r.released.IsZero() {
			r.released = at
		}
	}
}

// count is how many grants there were: a check of none proves nothing.
func (h *history) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tenures)
}

// overlap is two tenures of one key whose windows [told, end) meet.
type overlap struct{ a, b tenure }

func (o overlap) String() string {
	from, until := o.b.told, o.a.end()
	if o.b.end().Before(until) {
		until = o.b.end()
	}
	return fmt.Sprintf("two holders of %q for %v:\n  %v\n  %v", o.a.key, until.Sub(from), o.a, o.b)
}

// overlaps finds every pair, in order of time. A holder does not exclude itself: its take and its extends may meet.
func (h *history) overlaps() (found []overlap) {
	h.mu.Lock()
	sorted := slices.Clone(h.tenures)
	h.mu.Unlock()
	slices.SortStableFunc(sorted, func(a, b tenure) int { return a.told.Compare(b.told) })
	standing := map[string][]tenure{} // by key: those told before, and not ended when the present one was told
	for _, r := range sorted {
		if !r.told.Before(r.end()) {
			continue // told too late to be of use
		}
		still := slices.DeleteFunc(standing[r.key], func(s tenure) bool { return !r.told.Before(s.end()) })
		for _, s := range still {
			if !s.sameHolder(r) {
				found = append(found, overlap{s, r})
			}
		}
		standing[r.key] = append(still, r)
	}
	return found
}

// check fails the test if any lock had two holders at once, or if fewer than least grants were seen.
func (h *history) check(t testing.TB, least int) {
	t.Helper()
	const shown = 10 // of one cause there are often thousands
	found := h.overlaps()
	for _, o := range found[:min(shown, len(found))] {
		t.Error(o)
	}
	if n := h.count(); len(found) > shown || n < least {
		t.Errorf("%d overlaps among %d grants, want none among %d or more", len(found), n, least)
	}
}

func TestHistoryFindsOverlaps(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	// A tenure from asked to asked+ttl and told one unit later, in units of 10 ms; released 0 is never.
	at := func(client, key, token string, asked, ttl, released int) tenure {
		r := tenure{client: client, key: key, token: token, asked: t0.Add(time.Duration(asked) * 10 * ms),
			told: t0.Add(time.Duration(asked+1) * 10 * ms), ttl: time.Duration(ttl) * 10 * ms}
		if released > 0 {
			r.released = t0.Add(time.Duration(released) * 10 * ms)
		}
		return r
	}
	first := at("one", "k", "t1", 0, 10, 0)
	for _, c := range []struct {
		name string
		all  []tenure
		want int
	}{
		{"none", nil, 0},
		{"within", []tenure{first, at("two", "k", "t2", 5, 2, 0)}, 1},
		{"by a hair", []tenure{first, at("two", "k", "t2", 8, 10, 0)}, 1},
		{"end to end", []tenure{first, at("two", "k", "t2", 9, 10, 0)}, 0},
		{"in any order", []tenure{at("two", "k", "t2", 8, 10, 0), first}, 1},
		{"the same instant", []tenure{first, at("two", "k", "t2", 0, 10, 0)}, 1},
		{"another key", []tenure{first, at("two", "other", "t2", 5, 10, 0)}, 0},
		{"after its release", []tenure{at("one", "k", "t1", 0, 10, 4), at("two", "k", "t2", 3, 10, 0)}, 0},
		{"before its release", []tenure{at("one", "k", "t1", 0, 10, 5), at("two", "k", "t2", 3, 10, 0)}, 1},
		{"released after its end", []tenure{at("one", "k", "t1", 0, 10, 20), at("two", "k", "t2", 9, 10, 0)}, 0},
		{"told too late", []tenure{first, at("two", "k", "t2", 5, 1, 0)}, 0},
		{"its own extend", []tenure{first, at("one", "k", "t1", 5, 10, 0)}, 0},
		{"an extend, and another", []tenure{first, at("one", "k", "t1", 5, 10, 0), at("two", "k", "t2", 12, 10, 0)}, 1},
		{"a token used by two", []tenure{first, at("two", "k", "t1", 5, 10, 0)}, 1},
		{"over a short one", []tenure{at("one", "k", "t1", 0, 100, 0), at("one", "k", "t1", 1, 2, 0), at("two", "k", "t2", 50, 10, 0)}, 1},
		{"three", []tenure{first, at("two", "k", "t2", 3, 10, 0), at("three", "k", "t3", 5, 10, 0)}, 3},
	} {
		h := &history{}
		for _, r := range c.all {
			h.add(r)
		}
		if got := h.overlaps(); len(got) != c.want {
			t.Errorf("%s: %d overlaps, want %d: %v", c.name, len(got), c.want, got)
		}
	}
}

// Clients that exclude each other by a mutex pass; then one is made to believe it holds what another holds, and both are named.
func TestHistoryOfClients(t *testing.T) {
	h := &history{}
	var lock sync.Mutex
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			client := fmt.Sprintf("client %d", i)
			for n := range 200 {
				token := fmt.Sprint(n)
				lock.Lock()
				h.granted(client, "k", token, time.Now(), time.Hour)
				h.releasing(client, "k", token)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	h.check(t, 8*200)
	h.granted("the first", "k", "t1", time.Now(), time.Hour)
	h.granted("the second", "k", "t2", time.Now(), time.Hour)
	h.releasing("the first", "k", "t1")
	found := h.overlaps()
	if len(found) != 1 {
		t.Fatalf("%d overlaps: %v", len(found), found)
	}
	for _, want := range []string{`two holders of "k"`, `the first held "k" with "t1"`, "released ", `the second held "k" with "t2"`, "not released"} {
		if !strings.Contains(found[0].String(), want) {
			t.Errorf("%q is not in %v", want, found[0])
		}
	}
}
