package backend

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
)

// ready waits until the node has answered a take of that key with more than that it was not asked.
func (f fixture) ready(key, token string) *heard {
	f.Helper()
	for range 10000 {
		h := f.send(take(key, token, time.Hour))
		synctest.Wait()
		if h.all()[0].Vote != quorum.Unknown {
			return h
		}
		time.Sleep(ms)
	}
	f.Fatal("no vote within 10 s")
	return nil
}

// What waits until the node is vouched for is told before anything is taken there, so that it does not meet
// what is taken with the same token.
func TestOwedUntilVouchedForGoesFirst(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Flush()
		time.Sleep(lookEvery + ms)
		synctest.Wait()
		if f.pipe.State().Vouched {
			t.Fatal("vouched for")
		}
		f.node.Put("k", "shared", time.Hour)
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("shared"), Later: true}, f.clock()+time.Hour)
		time.Sleep(100 * ms)
		synctest.Wait()
		f.holds("k", "shared")
		f.want(f.ready("k", "shared"), 0, yes)
		time.Sleep(time.Second)
		f.holds("k", "shared")
	})
}

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

// A node that may have evicted locks has forgotten: it is not used as long as it may, and taught before it votes again (R21).
func TestR21NodeThatEvictsIsNotVouchedFor(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		before, _ := f.node.Value(quorum.MarkKey)
		f.node.Configure("maxmemory-policy", "allkeys-lru")
		time.Sleep(examineEvery + time.Second)
		synctest.Wait()
		if s := f.pipe.State(); s.Health != quorum.Down {
			t.Fatalf("%+v", s)
		}
		if mark, _ := f.node.Value(quorum.MarkKey); mark != quorum.SpoiltMark {
			t.Fatalf("marked %q", mark)
		}
		f.node.Configure("maxmemory-policy", "noeviction")
		f.want(f.ready("k", "t"), 0, yes)
		if mark, _ := f.node.Value(quorum.MarkKey); quorum.VouchOf(mark) == "" || mark == before {
			t.Fatalf("marked %q", mark)
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

// Why a node is not back yet is told for as long as it is so.
func TestWhyALessonIsInVain(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Flush()
		f.node.Refuse("MISCONF no disk")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := f.pipe.State().Teaching; got != "in vain so far: MISCONF no disk" {
			t.Fatalf("%q", got)
		}
		f.node.Refuse("")
		f.want(f.ready("k", "t"), 0, yes)
		if got := f.pipe.State().Teaching; got != "" {
			t.Fatalf("%q", got)
		}
	})
}
