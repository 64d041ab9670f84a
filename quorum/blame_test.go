package quorum

import (
	"testing"
	"time"
)

// witnesses is what another node's clock may show when one has moved by ten seconds.
var (
	jumpOf10   = Shift{10*time.Second - ms, 10*time.Second + ms}
	notHeard   = Evidence{}
	notMoved   = Evidence{Heard: true, By: Shift{-ms, ms}}
	movedSame  = Evidence{Heard: true, Moved: true, By: Shift{10*time.Second + ms/2, 10*time.Second + 2*ms}}
	movedElse  = Evidence{Heard: true, Moved: true, By: Shift{-time.Second, -time.Second + ms}}
	tooWide    = Evidence{Heard: true, By: Shift{-time.Second, 11 * time.Second}}
	allWitness = []Evidence{notHeard, notMoved, movedSame, movedElse, tooWide}
)

// TestP4BlameOfEveryEvidence: with the node itself, a majority has moved the same: it was ours. No majority can have, whatever
// those say that have not been heard or are too inexact: it was the node's. Else it is not known.
func TestP4BlameOfEveryEvidence(t *testing.T) {
	for n := 1; n <= 5; n++ {
		cases := 1
		for range n - 1 {
			cases *= len(allWitness)
		}
		for c := range cases {
			said, others := make([]int, len(allWitness)), []Evidence(nil)
			for rest, i := c, 0; i < n-1; rest, i = rest/len(allWitness), i+1 {
				said[rest%len(allWitness)]++
				others = append(others, allWitness[rest%len(allWitness)])
			}
			moved := 1 + said[2]
			mayHave := moved + said[0] + said[4]
			want := NotKnown
			if 2*moved > n {
				want = Ours
			}
			if 2*mayHave <= n {
				want = Theirs
			}
			if got := JudgeClock(jumpOf10, others); got != want {
				t.Fatalf("%d nodes, others %v: %v, want %v", n, said, got, want)
			}
			back := Shift{-jumpOf10.High, -jumpOf10.Low}
			for i, e := range others {
				others[i].By = Shift{-e.By.High, -e.By.Low}
			}
			if got := JudgeClock(back, others); got != want {
				t.Fatalf("%d nodes, back, others %v: %v, want %v", n, said, got, want)
			}
		}
	}
}

// After a pause of an hour the clocks of all nodes are ahead by an hour, but for what they differ in rate. That does not
// make them different jumps; more than that does.
func TestP4ClocksThatDifferInRateMovedTheSame(t *testing.T) {
	step := Shift{time.Hour, time.Hour + ms}
	at := func(d time.Duration) []Evidence {
		return []Evidence{{Heard: true, Moved: true, By: Shift{time.Hour + d, time.Hour + d + ms}}, notMoved}
	}
	for _, d := range []time.Duration{720 * ms, -720 * ms, 18 * time.Second, -18 * time.Second} {
		if got := JudgeClock(step, at(d)); got != Ours {
			t.Errorf("%v apart: %v", d, got)
		}
	}
	for _, d := range []time.Duration{19 * time.Second, -19 * time.Second, time.Hour} {
		if got := JudgeClock(step, at(d)); got != Theirs {
			t.Errorf("%v apart: %v", d, got)
		}
	}
}

// All nodes are judged one after the other, each with what the others show by then: those that were
// excused first are witnesses for those that come last.
func TestP4WhenWePausedNoNodeIsBlamed(t *testing.T) {
	const pause = 10 * time.Second
	for n := 2; n <= 5; n++ {
		for name, slow := range map[string]bool{"all at once": false, "one every 500 ms": true} {
			watches, nodes := make([]*Watch, n), make([]clockOf, n)
			for i := range watches {
				nodes[i] = running(float64(100*i-200)).stepping(time.Minute, pause)
				watches[i] = vouchedWatch(t, nodes[i], 59*time.Second)
			}
			seen, now := make([]time.Duration, n), time.Minute
			look := func(i int) {
				w, was := watches[i], watches[i].step
				_ = w.See(Look{Mark: "run:v:0", Clock: nodes[i].read(now, ms, ms)})
				now += 2 * ms
				if was == steady && w.step == stepped {
					seen[i] = now
				}
			}
			for i := range watches {
				if !slow {
					look(i)
				}
			}
			for range 3 {
				for i, w := range watches {
					look(i)
					by, _, jumped := w.Jumped()
					if !jumped {
						continue
					}
					var evidence []Evidence
					for k, o := range watches {
						if k != i {
							if e := o.Evidence(seen[i]); e.Heard {
								evidence = append(evidence, e)
								continue
							}
							look(k) // it is asked, and heard the next time
							evidence = append(evidence, o.Evidence(seen[i]))
						}
					}
					switch JudgeClock(by, evidence) {
					case Theirs:
						t.Fatalf("%d nodes, %s: node %d is blamed for our pause: %v", n, name, i, evidence)
					case Ours:
						w.Forgive()
					}
					if slow {
						now += 500 * ms
					}
				}
			}
			for i, w := range watches {
				look(i)
				if w.Vouched() != nil {
					t.Errorf("%d nodes, %s: node %d: %v", n, name, i, w.Vouched())
				}
			}
		}
	}
}

// A node that is excused is no witness of a jump much later.
func TestP4AnExcuseEnds(t *testing.T) {
	node := running(0).stepping(time.Minute, 10*time.Second)
	w := vouchedWatch(t, node, 59*time.Second)
	_ = w.See(Look{Clock: node.read(time.Minute, ms, ms)})
	w.Forgive()
	_ = w.See(Look{Clock: node.read(time.Minute+10*time.Second, ms, ms)})
	again := NewWatch("run", w) // connections end when we pause
	if e := again.Evidence(time.Minute + 4*time.Second); !e.Moved {
		t.Errorf("over another connection: %+v", e)
	}
	if e := w.Evidence(time.Minute + 4*time.Second); !e.Moved || !e.By.overlaps(Shift{10 * time.Second, 10 * time.Second}) {
		t.Errorf("soon: %+v", e)
	}
	if e := w.Evidence(time.Minute + 6*time.Second); !e.Heard || e.Moved {
		t.Errorf("later: %+v", e)
	}
	if e := w.Evidence(time.Minute + 11*time.Second); e.Heard {
		t.Errorf("not heard since: %+v", e)
	}
}

// An answer that was asked for before the question came up says nothing: it may have been waiting while we stood still.
func TestP4EvidenceIsAskedForAfterwards(t *testing.T) {
	node := running(0)
	w := vouchedWatch(t, node, time.Minute)
	_ = w.See(Look{Clock: node.read(time.Minute+ms, ms, 100*ms)})
	if e := w.Evidence(time.Minute + 2*ms); e.Heard {
		t.Fatalf("%+v", e)
	}
	if e := w.Evidence(time.Minute + ms); !e.Heard || e.Moved {
		t.Fatalf("%+v", e)
	}
	if e := NewWatch("run", nil).Evidence(0); e.Heard {
		t.Fatalf("nothing was read: %+v", e)
	}
	condemnedToo := jumpedWatch(t, time.Second)
	condemnedToo.Condemn()
	if e := condemnedToo.Evidence(time.Hour); !e.Heard || !e.Moved {
		t.Fatalf("%+v", e)
	}
}
