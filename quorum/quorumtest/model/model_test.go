package model

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

// budget 1 takes seconds, with the race detector as well; 100 is for a night.
var budget = flag.Float64("model.budget", 1, "how much to search, as a multiple")

func times(n int) int { return max(1, int(float64(n)**budget)) }

// enough steps to find what can be found, some ten times of what it takes with most seeds.
const enough = 4_000_000

func TestEveryRuleIsInOneTable(t *testing.T) {
	seen := map[Rule]int{}
	for _, c := range append(Clauses[:len(Clauses):len(Clauses)], Refinements...) {
		seen[c.Rule]++
	}
	for r := Rule(1); r < rules; r++ {
		if seen[r] != 1 {
			t.Errorf("rule %d is told %d times", r, seen[r])
		}
	}
}

// Without any one clause there is a double grant, and the very steps that lead to it lead to none with the clause.
func TestDoubleGrantWithout(t *testing.T) {
	for _, c := range Clauses {
		t.Run(c.Number+" "+c.Name, func(t *testing.T) {
			t.Parallel()
			expectDoubleGrant(t, c)
		})
	}
}

func TestDoubleGrantWithoutRefinement(t *testing.T) {
	for _, c := range Refinements {
		t.Run(c.Number+" "+c.Name, func(t *testing.T) {
			t.Parallel()
			expectDoubleGrant(t, c)
		})
	}
}

func expectDoubleGrant(t *testing.T, c Clause) {
	s := near(c.Rule)
	s.Without = c.Rule
	r := Hunt(&s, seed(c.Rule), enough)
	if r.Trace == nil {
		t.Fatalf("%s: no double grant in %d steps. The model is too coarse, or the clause is not needed", c.Sentence, r.Steps)
	}
	trace := Shorten(&s, r.Trace)
	t.Logf("%s: double grant after %d steps, in %d:\n%s", c.Sentence, r.Steps, len(trace), Tell(&s, trace))
	s.Without = All
	if Replay(&s, trace) != nil {
		t.Errorf("the same steps lead to a double grant with all rules in force")
	}
}

// Where a missing clause is found soon, the whole finds nothing.
func TestNoDoubleGrantNearAnyClause(t *testing.T) {
	for r := Rule(1); r < rules; r++ {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			t.Parallel()
			s := near(r)
			expectNone(t, &s, Hunt(&s, 2, times(6_000)))
		})
	}
}

func expectNone(t *testing.T, s *Scenario, r Result) {
	t.Helper()
	if r.Trace != nil {
		t.Errorf("double grant with all rules in force: %+v\n%s", *s, Tell(s, Shorten(s, r.Trace)))
	}
}

// More of everything, near the clauses: see around.
func TestNoDoubleGrantAround(t *testing.T) {
	walks(t, times(12), 10_000, around)
}

// Everything at once, from the beginning, with 3, 4 and 5 nodes: see anything.
func TestNoDoubleGrantAnywhere(t *testing.T) {
	walks(t, times(8), 10_000, anything)
}

func walks(t *testing.T, scenarios, steps int, draw func(*rand.Rand) Scenario) {
	const shares = 2
	for share := range shares {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(share), 3))
			var sum Result
			for i := 0; i < scenarios/shares && !t.Failed(); i++ {
				s := draw(random)
				r := Hunt(&s, uint64(i), steps)
				sum.add(r)
				expectNone(t, &s, r)
			}
			t.Logf("%d scenarios: %d walks, %d steps, %d grants, %d readmissions", scenarios/shares, sum.Walks, sum.Steps, sum.Grants, sum.Vouched)
		})
	}
}

// Every state of small scenarios: N = 3, no undo, what departs departs at once.
func TestNoDoubleGrantExhaustively(t *testing.T) {
	for _, s := range small() {
		if s.cost > *budget {
			t.Logf("%s is beyond this budget: it wants -model.budget=%v", s.Name, s.cost)
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := Exhaust(&s.Scenario, times(1_000_000))
			expectNone(t, &s.Scenario, r)
			t.Logf("%d states, %d steps, %d grants, %d readmissions, all: %v", r.States, r.Steps, r.Grants, r.Vouched, r.Exhausted)
			if !r.Exhausted {
				t.Errorf("not all states in the budget")
			}
		})
	}
}

// What is known and accepted: no rule helps here, doc.go says why. Should one of these be found no more, it has been mended.
func TestAcceptedDoubleGrants(t *testing.T) {
	for name, s := range accepted() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Hunt(&s, 1, enough)
			if r.Trace == nil {
				t.Fatalf("none in %d steps", r.Steps)
			}
			t.Logf("after %d steps:\n%s", r.Steps, Tell(&s, Shorten(&s, r.Trace)))
		})
	}
}
