package quorum

import (
	"testing"
	"testing/synctest"
)

// Who waits gets all it wants at once, in the order of arrival: a small wish does not overtake a large one.
func TestRoomIsGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room{free: 4}
		var got []int
		wants := func(n int) {
			go func() {
				r.take(n)
				got = append(got, n)
			}()
			synctest.Wait()
		}
		wants(3)
		wants(4)
		wants(1)
		if r.try(1) {
			t.Fatal("overtook those who wait")
		}
		if len(got) != 1 || r.used(4) != 3 {
			t.Fatalf("%v were given, %d are used", got, r.used(4))
		}
		r.give(1)
		r.give(2)
		synctest.Wait()
		if len(got) != 2 || got[1] != 4 {
			t.Fatalf("%v were given", got)
		}
		r.give(4)
		synctest.Wait()
		if len(got) != 3 || got[2] != 1 || !r.try(3) || r.try(1) {
			t.Fatalf("%v were given, %d are used", got, r.used(4))
		}
	})
}
