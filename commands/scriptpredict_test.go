package commands

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// held is what keys hold, by name; what is not in it is missing.
type held map[string]Seen

// fate is what has become of a key: "" if it is missing, else its value and where its expiry comes from.
func fate(value []byte, expiry string) string { return fmt.Sprintf("%q %s", value, expiry) }

// left as the fate of a key that nothing was done to.
func left(s Seen) string {
	if s.Left < 0 {
		return "for ever"
	}
	return fmt.Sprintf("in %d", s.Left.Milliseconds())
}

func fates(keys held) map[string]string {
	all := make(map[string]string)
	for name, s := range keys {
		if s.Exists {
			all[name] = fate(s.Value, left(s))
		}
	}
	return all
}

// predict says what a Command does to the keys, and what is answered, written as simply as it can be said.
func predict(c *Command, keys held) (map[string]string, Reply, error) {
	names, tokens := c.Keys, c.Tokens
	if c.Key != nil {
		names, tokens = [][]byte{c.Key}, [][]byte{c.Token}
	}
	after, seen := fates(keys), make([]Seen, len(names))
	missing, mine := 0, 0
	var deleted int64
	for i, name := range names {
		seen[i] = keys[string(name)]
		switch {
		case !seen[i].Exists:
			missing++
		case tokens != nil && owns(c, seen[i].Value, tokens[i]):
			mine++
		}
	}
	n := len(names)
	drop := func(name []byte) {
		if _, ok := after[string(name)]; ok {
			delete(after, string(name))
			deleted++
		}
	}
	granted := false
	switch {
	case c.Next != nil:
		if next, err := c.Next(seen); next != nil || err != nil {
			return predict(next, keys)
		}
		fallthrough
	case c.Verb == Inspect:
		r, err := c.Compute(seen)
		return after, r, err
	case c.Verb == Delete, c.Each:
		for i, name := range names {
			if c.Verb == Delete || bytes.Equal(seen[i].Value, tokens[i]) {
				drop(name)
			}
		}
		if c.Verb == Delete && deleted == 0 && c.Missing.Kind != ReplyCount {
			return after, c.Missing, nil
		}
		if c.Owned.Kind != ReplyCount {
			return after, c.Owned, nil
		}
		return after, Reply{Kind: ReplyInt, Int: deleted}, nil
	case c.Verb == Take:
		granted = missing == n || c.Own == OwnEach && missing+mine == n || c.Own == OwnAll && mine == n
	case c.Verb == Overwrite:
		granted = c.If == Always || seen[0].Exists && bytes.Equal(seen[0].Value, c.Was)
	default:
		granted = mine == n
	}
	if granted {
		for i, name := range names {
			switch value := tokens[i]; c.Verb {
			case Release:
				drop(name)
			default:
				after[string(name)] = fate(value, expires(c, seen[i]))
			}
		}
	}
	reply := c.Other
	switch {
	case granted && c.Verb == Take && missing == n:
		reply = c.Missing
	case granted:
		reply = c.Owned
	case c.Verb != Take && missing == n:
		reply = c.Missing
	}
	if reply.Kind == ReplyComputed {
		r, err := c.Compute(seen)
		return after, r, err
	}
	return after, reply, nil
}

func owns(c *Command, value, token []byte) bool {
	return bytes.Equal(value, token) || c.Prefix > 0 && len(token) >= c.Prefix && bytes.HasPrefix(value, token[:c.Prefix])
}

func expires(c *Command, was Seen) string {
	switch {
	case c.Expiry.Kind == NoExpiry:
		return "for ever"
	case c.Expiry.Kind == SinceEpoch:
		return fmt.Sprintf("at %d", c.Expiry.MS)
	case c.Add:
		return fmt.Sprintf("in %d", was.Left.Milliseconds()+c.Expiry.MS)
	default:
		return fmt.Sprintf("in %d", c.Expiry.MS)
	}
}

// observe runs a script in the sandbox with all values as they are, and tells the same.
func observe(known *knownScript, c *Command, keys, args [][]byte, before held) (map[string]string, Reply, string) {
	names := slices.Clone(c.Keys)
	if c.Key != nil {
		names = append(names, c.Key)
	}
	for _, k := range c.Named {
		if !slices.ContainsFunc(names, func(n []byte) bool { return bytes.Equal(n, k) }) {
			names = append(names, k)
		}
	}
	seen := make([]Seen, len(names))
	for i, name := range names {
		seen[i] = before[string(name)]
	}
	r := (&computation{known: known, keys: keys, args: args, names: names}).run(seen)
	after := fates(before)
	for i, name := range names {
		now := r.now[i]
		switch {
		case !now.exists:
			delete(after, string(name))
		case !now.life.given:
			after[string(name)] = fate([]byte(now.value.text), left(seen[i]))
		case now.life.none:
			after[string(name)] = fate([]byte(now.value.text), "for ever")
		case now.life.clock:
			after[string(name)] = fate([]byte(now.value.text), fmt.Sprintf("at %d", now.life.amount))
		default:
			after[string(name)] = fate([]byte(now.value.text), fmt.Sprintf("in %d", now.life.amount))
		}
	}
	return after, replyOf(r.reply, nil), r.why
}

// pool are values that a key of the call may hold, tokens and their like more often than others.
func pool(c *Command, body []byte, keys, args [][]byte) [][]byte {
	values := words("somebody else's", "", "0", "1", "OK")
	values = append(append(append(values, keys...), args...), args...)
	for _, token := range append(c.Tokens, c.Token, c.Was) {
		if token != nil {
			values = append(values, token, token, token, append(slices.Clone(token), "-note"...), token[:len(token)/2])
			if c.Prefix > 0 && len(token) >= c.Prefix {
				values = append(values, token[:c.Prefix], append(slices.Clone(token[:c.Prefix]), "-another"...))
			}
		}
	}
	for _, token := range luaTokens(body) {
		if strings.HasPrefix(token, `"`) {
			values = append(values, unquoted(token))
		}
	}
	return values
}

// unquoted is the text behind luaQuote.
func unquoted(token string) (text []byte) {
	for _, code := range strings.Split(token, `\`)[1:] {
		var b byte
		fmt.Sscanf(strings.TrimSuffix(code, `"`), "%d", &b)
		text = append(text, b)
	}
	return text
}

// samples are states of the keys of a call.
func samples(c *Command, body []byte, keys, args [][]byte, n int, rnd *rand.Rand) (all []held) {
	values, names := pool(c, body, keys, args), append(slices.Clone(c.Keys), c.Named...)
	if c.Key != nil {
		names = append(names, c.Key)
	}
	lefts := []time.Duration{100 * time.Second, 500 * time.Second, -1, 100 * 24 * time.Hour}
	for range n {
		state, tame := make(held), rnd.IntN(3)
		for i, name := range names {
			switch {
			case tame == 0 && c.Tokens != nil && i < len(c.Tokens):
				state[string(name)] = Seen{true, c.Tokens[i], lefts[rnd.IntN(len(lefts))]}
			case tame == 1 && rnd.IntN(4) > 0, rnd.IntN(3) == 0:
			default:
				state[string(name)] = Seen{true, values[rnd.IntN(len(values))], lefts[rnd.IntN(len(lefts))]}
			}
		}
		all = append(all, state)
	}
	return all
}

// spare says that the state is one in which an extend may do nothing: see the head of scriptrecognise.go.
func spare(c *Command, state held) bool {
	return (c.Verb == Extend || c.Next != nil) && slices.ContainsFunc(slices.Collect(maps.Values(state)), func(s Seen) bool { return s.Exists && s.Left < 0 })
}

// predictionLaw: what a recognised script does and answers, in whatever state, is what its Command says. It returns how often that
// was compared.
func predictionLaw(t *testing.T, name string, body []byte, keys, args [][]byte, seed uint64) int {
	scripts := newTestScripts()
	c, err := eval(scripts, body, keys, args)
	if err != nil {
		return 0
	}
	known, _ := scripts.load(body, func() {})
	states := samples(&c, body, keys, args, 40, rand.New(rand.NewPCG(seed, 2)))
	for _, state := range states {
		if spare(&c, state) {
			continue
		}
		after, reply, err := predict(&c, state)
		really, answered, why := observe(known, &c, keys, args, state)
		if err != nil || why != "" {
			t.Errorf("%s: %v: %v %s\n%s", name, state, err, why, body)
			return 0
		}
		if !maps.Equal(after, really) || showReply(reply) != showReply(answered) {
			t.Errorf("%s: %s: %v\npredicted %v %s\nbut it is %v %s\n%s", name, show(c, nil), state, after, showReply(reply), really, showReply(answered), body)
			return 0
		}
	}
	return len(states)
}

func TestScriptPredictions(t *testing.T) {
	for _, c := range corpus(t) {
		if n := predictionLaw(t, c.name, c.body, c.keys, c.args, 1); n == 0 && !strings.HasPrefix(c.name, "refuse") {
			t.Errorf("%s: nothing compared", c.name)
		}
	}
}

// Tokens that are empty, binary, equal to a word of the script or to another of the call: the verdict may be another, or none, but it holds.
func TestScriptPredictionsOfOddWords(t *testing.T) {
	odd := []string{"", "\x00\xff\r\n", "OK", "k", "0", "1", "30000", "get", "PX", "string", "false", strings.Repeat("x", 300)}
	held := 0
	for i, c := range corpus(t) {
		for j := range 2 {
			for arg := range c.args {
				if _, err := parseInt(c.args[arg]); err == nil {
					continue
				}
				args := slices.Clone(c.args)
				args[arg] = []byte(odd[(i+j*5+arg)%len(odd)])
				held += predictionLaw(t, fmt.Sprintf("%s with %q", c.name, args[arg]), c.body, c.keys, args, uint64(j))
			}
		}
	}
	if held < 5_000 {
		t.Errorf("only %d states compared", held)
	}
}

// What is computed is computed from what is there when it is asked, and nobody is told of a grant.
func TestScriptCompute(t *testing.T) {
	const tok, another = "tok", "another's"
	for _, c := range []struct{ script, args, value, want string }{
		{`return {redis.call("get", KEYS[1]), {redis.call("pttl", KEYS[1]), redis.call("ttl", KEYS[1])}}`, "tok", another, `[$"another's" [:5999 :5]]`},
		{`return {redis.call("get", KEYS[1]), redis.call("pttl", KEYS[1])}`, "tok", "", `[nil :-2]`},
		{`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pttl", KEYS[1]) end return -3`, "tok", tok, ":5999"},
		{`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pttl", KEYS[1]) end return -3`, "tok", another, ":-3"},
		{`if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return nil end return redis.call("pttl", KEYS[1])`, "tok 30000", another, ":5999"},
		{`if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return nil end return redis.call("pttl", KEYS[1])`, "tok 30000", tok, ":5999"},
		{`if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return nil end return redis.call("pttl", KEYS[1])`, "tok 30000", "", ":1"},
		{`local v = redis.call("get", KEYS[1]) if v == ARGV[1] then redis.call("del", KEYS[1]) return 0 end return redis.call("pttl", KEYS[1])`, "tok", tok, ":1"},
		// What the sandbox does not try is not done for that.
		{`if redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pttl", KEYS[1]) * 2 == 11998 then redis.call("del", KEYS[1]) end return 1`, "tok", tok, "does with these values what it did not do before"},
		{`if redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pttl", KEYS[1]) * 2 == 11998 then return redis.call("get", "k2") end return 1`, "tok", tok, "touches another key than before"},
		{`local n = redis.call("pttl", KEYS[1]) if n * 2 == 11998 then while true do end end return n`, "tok", tok, "ran too long"},
	} {
		command, err := eval(newTestScripts(), []byte(c.script), words("k"), words(strings.Fields(c.args)...))
		if err != nil || command.Compute == nil {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		reply, err := command.Compute([]Seen{{Exists: c.value != "", Value: []byte(c.value), Left: 5999 * time.Millisecond}})
		if got := showReply(reply); err == nil && got != c.want || err != nil && !strings.HasSuffix(err.Error(), "it "+c.want) {
			t.Errorf("%s\nwhile %q holds it: %s, %v, want %s", c.script, c.value, got, err, c.want)
		}
	}
}
