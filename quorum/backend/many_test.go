package backend

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
)

// many is a request about several keys; each token is that of its key, or the only one.
func many(op quorum.Op, keys, tokens string, life time.Duration) *quorum.Request {
	r := &quorum.Request{Op: op, TTL: life, Life: life}
	all := strings.Fields(tokens)
	for i, key := range strings.Fields(keys) {
		r.Keys = append(r.Keys, []byte(key))
		r.Tokens = append(r.Tokens, []byte(all[min(i, len(all)-1)]))
	}
	return r
}

func again(r *quorum.Request, rule quorum.Own) *quorum.Request {
	r.Own = rule
	return r
}

// answer is the one that comes at once.
func (f fixture) answer(h *heard) quorum.Answer {
	f.Helper()
	synctest.Wait()
	if all := h.all(); len(all) == 1 {
		return all[0]
	}
	f.Fatalf("heard %+v", h.all())
	return quorum.Answer{}
}

// keys of the node, as "a=t1 b=t2", in the order of names.
func (f fixture) keys(names string) string {
	var b strings.Builder
	for _, k := range strings.Fields(names) {
		if v, ok := f.node.Value(k); ok {
			b.WriteString(" " + k + "=" + v)
		}
	}
	return strings.TrimSpace(b.String())
}

// Every combination of two keys that are missing (-), the token's (t), another's (o), or blocked (b), for every operation on both.
func TestManyKeysAreAllOrNone(t *testing.T) {
	release := many(quorum.Release, "a b", "t", 0)
	each := many(quorum.Release, "a b", "t", 0)
	each.Each = true
	const blocked = 'b'
	for name, c := range map[string]struct {
		req  *quorum.Request
		want map[string]string // state before -> vote, number, keys after; left out: no, Other, as before
	}{
		"take": {many(quorum.Take, "a b", "t", time.Second), map[string]string{
			"--": "yes -1 a=t b=t",
		}},
		"take, own each": {again(many(quorum.Take, "a b", "t", time.Second), quorum.OwnEach), map[string]string{
			"--": "yes -1 a=t b=t", "t-": "yes -4 a=t b=t", "-t": "yes -4 a=t b=t", "tt": "yes -4 a=t b=t",
			"-b": "unknown", "b-": "unknown", "tb": "unknown", "bt": "unknown", "bb": "unknown", "bo": "unknown",
		}},
		"take, own all": {again(many(quorum.Take, "a b", "t", time.Second), quorum.OwnAll), map[string]string{
			"--": "yes -1 a=t b=t", "tt": "yes -4 a=t b=t",
			"-b": "unknown", "b-": "unknown", "tb": "unknown", "bt": "unknown", "bb": "unknown", "bo": "unknown",
		}},
		"release all": {release, map[string]string{
			"tt": "yes 2", "--": "no -1",
			"-b": "unknown", "b-": "unknown", "tb": "unknown", "bt": "unknown", "bb": "unknown", "bo": "unknown", "ob": "unknown",
		}},
		"release each": {each, map[string]string{
			"tt": "yes 2", "t-": "yes 1", "-t": "yes 1", "to": "yes 1 b=o", "ot": "yes 1 a=o",
			"--": "no 0", "-o": "no 0 b=o", "o-": "no 0 a=o", "oo": "no 0 a=o b=o",
			"-b": "unknown", "b-": "unknown", "tb": "unknown", "bt": "unknown", "bb": "unknown", "bo": "unknown", "ob": "unknown",
		}},
		"extend": {many(quorum.Extend, "a b", "t", 9*time.Second), map[string]string{
			"tt": "yes 1 a=t b=t", "--": "no -1",
			"-b": "unknown", "b-": "unknown", "tb": "unknown", "bt": "unknown", "bb": "unknown",
		}},
	} {
		for _, a := range "-to" + string(blocked) {
			for _, b := range "-to" + string(blocked) {
				before := string(a) + string(b)
				t.Run(name+" "+before, func(t *testing.T) {
					inBubble(t, nil, func(f fixture) {
						for i, holder := range before {
							value := map[rune]string{'t': "t", 'o': "o", blocked: quorum.Blocker}[holder]
							if value != "" {
								f.node.Put([]string{"a", "b"}[i], value, 5*time.Second)
							}
						}
						want, special := c.want[before]
						if !special {
							want = strings.TrimSpace("no -2 " + f.keys("a b"))
						}
						if want == "unknown" {
							want = strings.TrimSpace("unknown 0 " + f.keys("a b"))
						}
						req := *c.req
						h := f.send(&req)
						answer := f.answer(h)
						got := strings.TrimSpace(answer.Vote.String() + " " + itoa(answer.Number) + " " + f.keys("a b"))
						if got != want {
							t.Errorf("%s, want %s (%v)", got, want, answer.Err)
						}
					})
				})
			}
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// The undo of a take of many keys deletes what this attempt has set, and nothing else: not a key that the token held before, nor one that
// the same token has taken again, or anew, since.
func TestR17TakeBackByStamp(t *testing.T) {
	for name, c := range map[string]struct {
		before, between func(f fixture)
		want            string
	}{
		"set anew":                  {nil, nil, ""},
		"held before":               {func(f fixture) { f.node.Put("b", "t", 3*time.Second) }, nil, "b=t"},
		"held before, as long":      {func(f fixture) { f.node.Put("b", "t", time.Second) }, nil, "b=t"},
		"taken again at once":       {nil, func(f fixture) { f.send(again(many(quorum.Take, "a", "t", time.Second), quorum.OwnEach)) }, "a=t"},
		"taken again, for less":     {nil, func(f fixture) { f.send(again(many(quorum.Take, "b", "t", 500*ms), quorum.OwnEach)) }, "b=t"},
		"extended":                  {nil, func(f fixture) { f.send(many(quorum.Extend, "a b", "t", 2*time.Second)) }, "a=t b=t"},
		"released, taken by others": {nil, func(f fixture) { f.node.Put("a", "o", time.Second) }, "a=o"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(f fixture) {
				if c.before != nil {
					c.before(f)
				}
				h := f.send(again(many(quorum.Take, "a b", "t", time.Second), quorum.OwnEach))
				f.answer(h)
				if c.between != nil {
					c.between(f)
				}
				f.want(h, 3*ms, yes)
				back := many(quorum.TakeBack, "a b", "t", time.Second)
				back.Stamp, back.SetBy = h.all()[0].Stamp, h.all()[0].At
				f.pipe.Owe(back, f.clock()+time.Second)
				f.want(h, 10*ms, yes)
				if got := f.keys("a b"); got != c.want {
					t.Errorf("left: %q, want %q", got, c.want)
				}
			})
		})
	}
}

// What a further attempt of the same token takes again never expires at an instant that an undo knows, however often it is.
func TestTakenAgainChangesTheExpiry(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.send(again(many(quorum.Take, "k", "t", time.Second), quorum.OwnEach))
		for range 20 {
			f.want(f.send(&quorum.Request{Op: quorum.Get, Key: []byte("k")}), 0, yes)
			before := f.node.Left("k")
			f.want(f.send(again(many(quorum.Take, "k", "t", time.Second), quorum.OwnEach)), 0, yes)
			if after := f.node.Left("k"); (after-before).Abs() < 10*ms || after > time.Second+20*ms || after < time.Second {
				t.Fatalf("%v, then %v", before, after)
			}
			time.Sleep(ms)
		}
	})
}

func TestTopUpOfManyKeys(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put("b", "t", 10*ms)
		f.node.Put("c", "o", 10*time.Second)
		req := many(quorum.TopUp, "a b c", "t", 2*time.Second)
		req.SetBy = f.clock()
		f.pipe.Owe(req, f.clock()+time.Second)
		f.want(f.send(&quorum.Request{Op: quorum.Get, Key: []byte("a")}), 0, yes)
		if got := f.keys("a b c"); got != "a=t b=t c=o" {
			t.Fatal(got)
		}
		if left := f.node.Left("b"); left != 2*time.Second {
			t.Fatal(left)
		}
	})
}

// A prefix of the token may be all that is compared; the value is replaced then.
func TestTakeByPrefix(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put("a", "tok-one", time.Second)
		req := again(many(quorum.Take, "a", "tok-two", time.Second), quorum.OwnAll)
		req.Prefix = 4
		f.want(f.send(req), 0, yes)
		f.holds("a", "tok-two")
		req = again(many(quorum.Take, "a", "toc-two", time.Second), quorum.OwnAll)
		req.Prefix = 4
		f.want(f.send(req), 0, no)
		f.holds("a", "tok-two")
	})
}

// Every condition, on a key that is missing, holds the value, another one, has no expiry, or is blocked.
func TestConditions(t *testing.T) {
	states := map[string]func(f fixture){
		"missing":   func(fixture) {},
		"equal":     func(f fixture) { f.node.Put("k", "was", 5*time.Second) },
		"other":     func(f fixture) { f.node.Put("k", "other", 5*time.Second) },
		"unending":  func(f fixture) { f.node.Put("k", "other", 0) },
		"lasts 20s": func(f fixture) { f.node.Put("k", "other", 20*time.Second) },
		"blocked":   func(f fixture) { f.node.Put("k", quorum.Blocker, 5*time.Second) },
	}
	yesIn := map[quorum.Op]map[quorum.Condition]string{
		quorum.Overwrite: {
			quorum.Always: "missing equal other unending lasts 20s", quorum.IfMissing: "missing", quorum.IfExists: "equal other unending lasts 20s",
			quorum.IfEqual: "equal", quorum.IfNotEqual: "missing other unending lasts 20s",
		},
		quorum.Delete: {
			quorum.Always: "equal other unending lasts 20s", quorum.IfEqual: "equal", quorum.IfNotEqual: "other unending lasts 20s",
		},
		quorum.Expire: {
			quorum.Always: "equal other unending lasts 20s", quorum.IfNoExpiry: "unending", quorum.IfExpiry: "equal other lasts 20s",
			quorum.IfLater: "equal other", quorum.IfSooner: "unending lasts 20s",
		},
	}
	for op, byCondition := range yesIn {
		for condition, wanted := range byCondition {
			for state, put := range states {
				inBubble(t, nil, func(f fixture) {
					put(f)
					was, existed := f.node.Value("k")
					h := f.send(&quorum.Request{
						Op: op, Key: []byte("k"), Token: []byte("new"), Life: 10 * time.Second, If: condition, Was: []byte("was"), Old: true,
					})
					answer := f.answer(h)
					want := quorum.Answer{Vote: quorum.No, At: answer.At, Err: answer.Err}
					switch {
					case state == "blocked":
						want.Vote = quorum.Unknown
					case strings.Contains(wanted, state):
						want.Vote, want.Number = quorum.Yes, 1
					}
					if existed && state != "blocked" {
						want.Value = []byte(was)
					}
					if !reflect.DeepEqual(answer, want) {
						t.Errorf("%v %d %s: %+v, want %+v", op, condition, state, answer, want)
					}
					now, exists := f.node.Value("k")
					changed := now != was || exists != existed || op == quorum.Expire && f.node.Left("k") == 10*time.Second
					if changed != (want.Vote == quorum.Yes) {
						t.Errorf("%v %d %s: changed %v", op, condition, state, changed)
					}
				})
			}
		}
	}
}
