package quorum

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// model is a node that forgets, is taught and jumps, and one connection to it whose flushes are under way.
type model struct {
	random *rand.Rand
	now    time.Duration // ours
	jumped time.Duration // the node's clock, beyond ours
	mark   string
	nonces int
	// life counts the node's losses and jumps; vouched is the life in which mark was set. What the mark says is true
	// while they are the same.
	life, vouched int
	forgot        time.Duration // when mark was lost last, or deleted

	w     *Watch
	sent  []*flush // not carried out yet
	done  []*flush // not read yet
	knows int      // the life that the mark which the watch knows vouched for, and was true for, when it was read
}

type flush struct {
	trust   Trust
	at      time.Duration
	delete  string // a mark that it deletes, if it is not empty
	deletes bool
	known   int // model.knows when it was sent
	life    int // in which its requests were carried out
	tail    int // in which its tail was read
	vouched bool
	look    Look
}

func (m *model) send(f *flush) {
	f.trust, f.at, f.known = m.w.Trust(), m.now, m.knows
	m.sent = append(m.sent, f)
}

// happen: the node loses its memory, is taught, or its clock jumps; often between a flush's requests and its tail.
func (m *model) happen() {
	switch m.random.IntN(90) {
	case 0: // flushed
		m.life++
		m.mark, m.forgot = "", m.now
	case 1, 6, 7, 8, 9: // taught, which takes R
		if m.mark == "" && m.now-m.forgot > 507*ms {
			m.nonces++
			m.mark, m.vouched = fmt.Sprintf("run:%d:0", m.nonces), m.life
		}
	case 2:
		m.life++
		m.jumped += time.Duration(200+m.random.IntN(5000)) * ms * time.Duration(1-2*m.random.IntN(2))
	case 3: // another redlockd has seen a jump
		if m.vouched != m.life && m.mark != "" {
			m.mark, m.forgot = "", m.now
		}
	case 4:
		if m.random.IntN(3) == 0 && m.mark != "" {
			m.mark = VouchOf(m.mark) + "7" // renewed
		}
	case 5, 10, 11, 12:
		m.now += time.Duration(m.random.IntN(700)) * ms
	default:
		m.now += time.Duration(m.random.IntN(1000)) * us
	}
}

func (m *model) carryOut() {
	f := m.sent[0]
	m.sent = m.sent[1:]
	f.life, f.vouched = m.life, m.vouched == m.life && m.mark != ""
	if f.deletes && m.mark != "" && (f.delete == "" || VouchOf(m.mark) == f.delete) {
		m.mark, m.forgot = "", m.now
	}
	m.happen()
	f.tail = m.life
	f.look = Look{Trust: f.trust, Mark: m.mark, Clock: Reading{Sent: f.at, Node: since1970 + m.now + m.jumped}}
	m.done = append(m.done, f)
}

// read the replies of the oldest flush: whether its votes count, and whether they should.
func (m *model) read() (f *flush, counts bool) {
	f = m.done[0]
	m.done = m.done[1:]
	f.look.Clock.Received = m.now
	counts = m.w.See(f.look) == nil
	m.knows = f.tail
	if f.deletes {
		m.w.Retracted(f.delete)
	}
	return f, counts
}

// Law (P2, P4): a yes counts only if it was carried out in one life of the node, in which the node was vouched for, and
// which the watch had seen to be so before the yes was asked for. Losses, jumps and teachers come at any moment, while
// up to a handful of flushes are under way. Jumps are larger here than what a flush's own time may hide.
func TestP2P4Law(t *testing.T) {
	counted, settled := 0, 0
	for seed := range uint64(400) {
		m := &model{random: rand.New(rand.NewPCG(seed, 4)), now: time.Second, mark: "run:first:0", w: NewWatch("run", nil)}
		deleting := false
		// What has jumped before the first reading can be seen by wall clocks only.
		_ = m.w.See(Look{Mark: m.mark, Clock: Reading{m.now, m.now, since1970 + m.now}})
		for range 1500 {
			switch m.random.IntN(6) {
			case 0, 1:
				m.send(&flush{})
			case 2, 3:
				if len(m.sent) > 0 {
					m.carryOut()
				}
			case 4:
				if len(m.done) == 0 {
					continue
				}
				if m.now-m.done[0].at > 20*ms { // too slow to be exact: the connection is given up
					m.w, m.sent, m.done, deleting = NewWatch("run", m.w), nil, nil, false
					continue
				}
				f, counts := m.read()
				deleting = deleting && !f.deletes
				if counts {
					counted++
					if !f.vouched || f.known != f.life {
						t.Fatalf("seed %d: counts, vouched for %v, life %d, asked for in %d", seed, f.vouched, f.life, f.known)
					}
				}
				m.w.Condemn()
				if vouch, due := m.w.Condemned(); due && !deleting {
					deleting = true
					settled++
					m.send(&flush{deletes: true, delete: vouch})
				}
			default:
				m.happen()
			}
		}
	}
	if counted < 10_000 || settled < 1000 {
		t.Fatalf("%d votes counted, %d jumps settled: this says nothing", counted, settled)
	}
	t.Logf("%d votes counted, %d jumps settled", counted, settled)
}
