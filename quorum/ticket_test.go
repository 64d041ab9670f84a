package quorum

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// moody is a node that says yes to every key that has a y for it, and says so at once, later, twice, or too late; on whatever goroutine. It
// looks at the request until its last word.
type moody struct {
	*testing.T
	i   int
	all *sync.WaitGroup // of what it still has to say

	mu     sync.Mutex
	unsent []func()
	yes    map[string]bool // that were its last word
	back   map[string]int  // how often it was told to take it back
}

func (n *moody) Name() string     { return fmt.Sprint(n.i) }
func (n *moody) State() NodeState { return NodeState{} }
func (n *moody) Admit() error     { return nil }

func (n *moody) Send(req *Request, now time.Duration, v Voter, i int) {
	key := string(req.Key)
	say := func(a Answer) {
		v.Hear(i, a)
		n.all.Done()
	}
	last := func() {
		if string(req.Key) != key {
			n.Errorf("the request for %s is another's before node %d has answered it", key, n.i)
		}
		a := Answer{Vote: No, At: now + 1}
		switch {
		case rand.N(10) == 0:
			a = Answer{Trace: Lost, At: now + 1, Err: errLost}
		case key[n.i] == 'y':
			a.Vote = Yes
			n.mu.Lock()
			n.yes[key] = true
			n.mu.Unlock()
		}
		say(a)
	}
	late := func() { say(Answer{Trace: Awaited, At: now + 1, Err: errLost}) }
	n.all.Add(1)
	n.mu.Lock()
	switch rand.N(8) {
	case 0, 4, 5: // its time-out is overtaken, just so
		n.all.Add(3)
		n.unsent = append(n.unsent, func() {
			for range 3 {
				go late()
			}
			last()
		})
	case 1:
		n.all.Add(1)
		n.unsent = append(n.unsent, func() {
			late()
			pause()
			last()
		})
	case 2:
		n.mu.Unlock()
		say(Answer{At: now, Err: errLost}) // before Send returns
		return
	default:
		n.unsent = append(n.unsent, last)
	}
	n.mu.Unlock()
}

func pause() { time.Sleep(rand.N(200 * time.Microsecond)) }

func (n *moody) Flush(time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, do := range n.unsent {
		go func() {
			pause()
			do()
		}()
	}
	n.unsent = nil
}

func (n *moody) Owe(req *Request, _ time.Duration) {
	if req.Op == TakeBack {
		n.mu.Lock()
		n.back[string(req.Key)]++
		n.mu.Unlock()
	}
}

var errLost = fmt.Errorf("lost")

// Tickets are used again and again by many at once. No round hears what was said to another, every yes that is not wanted is taken back, once,
// however late it comes, and all room is given back.
func TestTicketsAreUsedAgain(t *testing.T) {
	const n, askers, each, room = 5, 8, 400, 6
	var all sync.WaitGroup
	var nodes []Node
	for i := range n {
		nodes = append(nodes, &moody{T: t, i: i, all: &all, yes: map[string]bool{}, back: map[string]int{}})
	}
	f := NewFleet(nodes, Rules{MaxTTL: time.Hour, RoundLimit: time.Second, InFlight: room}, func() time.Duration { return 1 }, rand.Float64, nil)
	var mu sync.Mutex
	kept, ended := map[string]bool{}, map[string]bool{}
	var asking sync.WaitGroup
	for a := range askers {
		asking.Go(func() {
			for k := range each {
				mood := strings.Repeat([]string{"y", "n"}[rand.N(2)], n)
				if rand.N(3) == 0 {
					mood = []string{"yynnn", "nnyyy", "yyynn"}[rand.N(3)]
				}
				key := fmt.Sprintf("%s %d.%d", mood, a, k)
				f.Reserve(1)
				ticket := f.NewTicket()
				ticket.Request = Request{Op: Take, Key: []byte(key), Token: []byte("t"), TTL: time.Minute, Life: time.Minute}
				ticket.Start(1)
				ticket.Wait(false)
				ruling, _ := ticket.Confirm(2)
				v := ruling.Votes
				if yes := strings.Count(mood, "y"); v.N() != n || v.Yes > yes || v.No > n-yes {
					t.Errorf("%s: %+v", key, ruling)
				}
				granted := ruling.Verdict == Granted
				if granted && rand.N(3) == 0 {
					ticket.GiveBack()
					granted = false
				}
				mu.Lock()
				ended[key], kept[key] = true, granted
				mu.Unlock()
				ticket.Free()
			}
		})
	}
	asking.Wait()
	f.Flush()
	all.Wait()
	again := 0
	for _, node := range nodes {
		m := node.(*moody)
		for key := range ended {
			want := 0
			if m.yes[key] && !kept[key] {
				want = 1
			}
			if m.back[key] != want {
				t.Errorf("node %d: %s was taken back %d times, want %d", m.i, key, m.back[key], want)
			}
		}
		again += len(m.yes)
	}
	if used := f.room.used(room); used != 0 || len(ended) != askers*each || again == 0 {
		t.Errorf("%d of the room in use, %d rounds, %d yes", used, len(ended), again)
	}
}
