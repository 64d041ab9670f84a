package backend

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
)

// What there is no room for yet keeps its place: behind it there may be what must not overtake it.
func TestOwedKeepsItsOrder(t *testing.T) {
	const n = 2 * maxFlight
	inBubble(t, func(o *Options) { o.Queue, o.Owed = 100, n }, func(f fixture) {
		f.node.Kill()
		synctest.Wait()
		until := f.clock() + time.Hour
		for i := range n {
			f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte(strconv.Itoa(i))}, until)
		}
		f.node.Start()
		time.Sleep(time.Minute)
		synctest.Wait()
		told := 0
		for _, c := range f.node.Seen("EVALSHA") {
			if c[1] != release.hash {
				continue
			}
			if c[4] != strconv.Itoa(told) {
				t.Fatalf("%s was told as number %d", c[4], told)
			}
			told++
		}
		if told != n {
			t.Fatalf("%d were told", told)
		}
	})
}

// The mark of a node whose clock jumped is deleted in the end, also if there was no room to ask for that at first (P4).
func TestP4DeletionIsTriedAgain(t *testing.T) {
	inBubble(t, func(o *Options) { o.Queue = 1 }, func(f fixture) {
		l := f.pipe.current.Load()
		f.node.Hang()
		f.send(take("k", "t", time.Minute)) // the queue is full
		l.settles = true
		l.deleteMark("")
		if l.settles {
			t.Fatal("an answer is waited for that will not come")
		}
	})
}
