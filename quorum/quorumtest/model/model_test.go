package model

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

func TestSoak(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SOAK"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	r := rand.New(rand.NewPCG(uint64(seed), 9))
	var sum Result
	for i := range n {
		s := around(r)
		o := Hunt(&s, uint64(i), 300_000)
		sum.add(o)
		if o.Trace != nil {
			t.Fatalf("%d %+v\n%s", i, s, Tell(&s, Shorten(&s, o.Trace)))
		}
	}
	t.Logf("walks %d steps %d grants %d vouched %d", sum.Walks, sum.Steps, sum.Grants, sum.Vouched)
}
