package backend

import (
	"testing"
	"time"
)

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
