package model
import ("testing")
func TestTune(t *testing.T) {
	for _, c := range append(Clauses, Refinements...) {
		c := c
		t.Run(c.Name, func(t *testing.T){ t.Parallel()
		s := near(c.Rule)
		sum, most, miss := 0,0,0
		for seed := range uint64(8) {
			r := Hunt(&s, seed, 2_000_000)
			sum += r.Steps; most = max(most, r.Steps)
			if r.Trace == nil { miss++ }
		}
		t.Logf("%-20s mean %7d most %7d miss %d", c.Name, sum/8, most, miss)
		})
	}
}
