package quorum

import (
	"fmt"
	"testing"
)

// alphabet is what a node may say in one kind of round.
type alphabet struct {
	name string
	req  *Request
	said []Answer
}

var (
	yes     = Answer{Vote: Yes, Number: 1}
	no      = Answer{Vote: No}
	unknown = Answer{}
)

func holds(value string, left int64) Answer {
	return Answer{Vote: Yes, Value: []byte(value), Seen: []Held{{Exists: true, Value: []byte(value), Left: left}}}
}

func counts(n int64) Answer {
	if n == 0 {
		return no
	}
	return Answer{Vote: Yes, Number: n}
}

func heardAll(answers ...Answer) []slot {
	slots := make([]slot, len(answers))
	for i, a := range answers {
		slots[i].hear(&a)
	}
	return slots
}

var alphabets = []alphabet{
	{"take", &Request{Op: Take}, []Answer{yes, no, unknown}},
	{"get", &Request{Op: Get}, []Answer{holds("a", 0), holds("b", 0), no, unknown}},
	{"delete", &Request{Op: Delete, Keys: [][]byte{nil, nil}}, []Answer{counts(2), counts(1), counts(0), unknown}},
	{"release each", &Request{Op: Release, Each: true, Keys: [][]byte{nil, nil}}, []Answer{counts(2), counts(1), counts(0), unknown}},
	{"inspect", &Request{Op: Inspect, Keys: [][]byte{nil, nil}}, []Answer{sees("a", "a"), sees("a", ""), sees("b", "b"), unknown}},
	{"swap", &Request{Op: Overwrite, If: IfEqual, Old: true}, []Answer{had(yes, "a"), had(no, "b"), had(yes, ""), had(no, ""), unknown}},
}

// sees is an answer to Inspect; "" is a key that is missing.
func sees(values ...string) Answer {
	a := Answer{Vote: Yes}
	for _, v := range values {
		a.Seen = append(a.Seen, Held{Exists: v != "", Value: []byte(v)})
	}
	return a
}

// had is an answer with the value from before.
func had(a Answer, value string) Answer {
	if value != "" {
		a.Value = []byte(value)
	}
	return a
}

// TestR14EveryOrderOfEveryVote tries, for fleets of one to five nodes, every combination of what
// the nodes may say, in every order. At every step a verdict must be there if and only if
// everything that may still come would lead to that same verdict.
func TestR14EveryOrderOfEveryVote(t *testing.T) {
	for _, a := range alphabets {
		for n := 1; n <= 5; n++ {
			t.Run(fmt.Sprintf("%s of %d", a.name, n), func(t *testing.T) { everyOrder(t, a, n) })
		}
	}
}

// everyOrder walks through all partly heard rounds: who has been heard, and what they
// said, is all that judge sees, so that orders that lead to the same state need one visit.
func everyOrder(t *testing.T, a alphabet, n int) {
	finals := map[string]map[string]bool{} // state -> the outcomes it can still come to
	slots := make([]slot, n)
	choice := make([]int, n) // -1: not heard
	for i := range choice {
		choice[i] = -1
	}
	var outcomes func() map[string]bool
	outcomes = func() map[string]bool {
		state := fmt.Sprint(choice)
		if known, ok := finals[state]; ok {
			return known
		}
		reach := map[string]bool{}
		for i := range choice {
			if choice[i] >= 0 {
				continue
			}
			for k, said := range a.said {
				choice[i] = k
				slots[i].hear(&said)
				for o := range outcomes() {
					reach[o] = true
				}
				choice[i], slots[i] = -1, slot{}
			}
		}
		now := judge(a.req, slots)
		if len(reach) == 0 {
			if now.Verdict == Open {
				t.Fatalf("all heard and still open: %v", state)
			}
			reach[outcome(now)] = true
			if want := oracle(a, choice); want != outcome(now) {
				t.Fatalf("%v: %s, want %s", state, outcome(now), want)
			}
		}
		switch {
		case now.Verdict != Open && (len(reach) != 1 || !reach[outcome(now)]):
			t.Fatalf("%v: %s too early, could still be %v", state, outcome(now), reach)
		case now.Verdict == Open && len(reach) == 1 && a.req.Op == Take:
			t.Fatalf("%v: open, though only %v can come of it", state, reach)
		}
		finals[state] = reach
		return reach
	}
	outcomes()
}

func outcome(r Ruling) string {
	text := fmt.Sprintf("%v %q %d", r.Verdict, r.Value, numberOf(r))
	if r.Verdict == Granted {
		for _, h := range r.Seen {
			text += fmt.Sprintf(" %v:%s", h.Exists, h.Value)
		}
	}
	return text
}

// numberOf leaves out what is not part of the answer: the remaining time grows with every holder heard.
func numberOf(r Ruling) int64 {
	if r.Value != nil || r.Verdict != Granted || r.Votes.Yes == 0 {
		return 0
	}
	return r.Number
}

// oracle says what the verdict must be when all were heard, straight from the table of answers: it
// knows nothing of early verdicts.
func oracle(a alphabet, choice []int) string {
	majority := len(choice)/2 + 1
	said := make([]int, len(a.said))
	for _, c := range choice {
		said[c]++
	}
	unknowns := said[len(a.said)-1]
	answered := len(choice) - unknowns
	if answered < majority {
		return outcome(Ruling{Verdict: Undecided})
	}
	// agreed is the value that a majority gave, or nil; sure says that the unknown could not have made it another.
	agreed := func(of func(Answer) string) (value []byte, sure bool) {
		counts := map[string]int{}
		most := 0
		for k, n := range said[:len(said)-1] {
			if v := of(a.said[k]); v != "" {
				counts[v] += n
				most = max(most, counts[v])
				if counts[v] >= majority {
					value = []byte(v)
				}
			}
		}
		return value, value != nil || most+unknowns < majority
	}
	switch a.req.Op {
	case Inspect:
		r := Ruling{Verdict: Granted, Votes: Votes{Yes: answered}}
		for key := range a.req.Keys {
			value, sure := agreed(func(a Answer) string { return string(a.Seen[key].Value) })
			if !sure {
				r.Verdict = Undecided
			}
			r.Seen = append(r.Seen, Held{Exists: value != nil, Value: value})
		}
		return outcome(r)
	case Overwrite:
		value, _ := agreed(func(a Answer) string { return string(a.Value) })
		r := Ruling{Verdict: Granted, Value: value}
		switch yes := said[0] + said[2]; {
		case yes >= majority:
		case yes+unknowns < majority:
			r.Verdict = Denied
		default:
			r = Ruling{Verdict: Undecided}
		}
		return outcome(r)
	case Take:
		return oracleVotes(said[0], unknowns, majority, Ruling{Verdict: Granted})
	case Get:
		best := 0
		if said[1] > said[0] {
			best = 1
		}
		return oracleVotes(said[best], unknowns, majority, Ruling{Verdict: Granted, Value: a.said[best].Value})
	default:
		two, one := said[0] >= majority, said[0]+said[1] >= majority
		mayTwo, mayOne := said[0]+unknowns >= majority, said[0]+said[1]+unknowns >= majority
		switch {
		case two:
			return outcome(Ruling{Verdict: Granted, Number: 2, Votes: Votes{Yes: 1}})
		case one && !mayTwo:
			return outcome(Ruling{Verdict: Granted, Number: 1, Votes: Votes{Yes: 1}})
		case !mayOne:
			return outcome(Ruling{Verdict: Denied})
		default:
			return outcome(Ruling{Verdict: Undecided})
		}
	}
}

func oracleVotes(yes, unknowns, majority int, granted Ruling) string {
	switch {
	case yes >= majority:
		return outcome(granted)
	case yes+unknowns < majority:
		return outcome(Ruling{Verdict: Denied})
	default:
		return outcome(Ruling{Verdict: Undecided})
	}
}

// A vote that does not count is neither yes nor no to the verdict.
func TestR13DoubtedVoteIsUnknown(t *testing.T) {
	doubted := yes
	doubted.Doubt = fmt.Errorf("restarted")
	r := judge(&Request{Op: Take}, heardAll(yes, doubted, no))
	if r.Verdict != Undecided || r.Votes != (Votes{Yes: 1, No: 1, Unknown: 1}) {
		t.Fatalf("%+v", r)
	}
}

// The remaining time is what a majority still holds, never what the longest does.
func TestR16RemainingIsTheMajorityThLargest(t *testing.T) {
	slots := heardAll(holds("a", 900), holds("a", 100), holds("b", 5000), holds("a", 500), no)
	ttl := &Request{Op: Inspect, Keys: [][]byte{[]byte("k")}}
	r := judge(ttl, slots)
	if r.Verdict != Granted || string(r.Seen[0].Value) != "a" || r.Seen[0].Left != 100 {
		t.Fatalf("%+v", r)
	}
	five := holds("a", 5000)
	slots[2].hear(&five)
	if r = judge(ttl, slots); r.Seen[0].Left != 500 {
		t.Fatalf("third largest of 900, 100, 5000, 500: %+v", r)
	}
}

// Somebody else holds the key only where a majority says so.
func TestWhyDenied(t *testing.T) {
	other, missing := Answer{Vote: No, Number: Other}, Answer{Vote: No, Number: Missing}
	for _, c := range []struct {
		answers []Answer
		want    int64
	}{
		{[]Answer{other, other, missing}, Other},
		{[]Answer{other, missing, missing}, Missing},
		{[]Answer{missing, missing, missing}, Missing},
	} {
		if r := judge(&Request{Op: Release}, heardAll(c.answers...)); r.Verdict != Denied || r.Number != c.want {
			t.Errorf("%v: %+v", c.answers, r)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		votes Votes
		want  bool
	}{
		{Votes{Yes: 2, No: 2, Unknown: 1}, true},
		{Votes{Yes: 2, No: 3}, true},
		{Votes{Yes: 1, No: 2}, true},
		{Votes{No: 3, Open: 2}, false},     // nobody said yes: nobody's votes are missing
		{Votes{Yes: 2, Unknown: 3}, false}, // broken, not split
		{Votes{Yes: 3, No: 2}, false},      // won
	} {
		if got := c.votes.Split(); got != c.want {
			t.Errorf("%+v: %v", c.votes, got)
		}
	}
}
