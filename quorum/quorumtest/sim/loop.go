package sim

import (
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// loop is the time of a world, and what happens in it: one event after the other, in the order of their instants, and
// of one instant in the order in which they were planned. There is nothing else that runs.
type loop struct {
	now     time.Duration // true time
	planned events
	seq     uint64
	rng     *rand.Rand
	events  int
	sum     uint64 // of all that happened: a seed has always the same
	trace   io.Writer
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1].do = nil
	*e = (*e)[:len(*e)-1]
	return last
}

// after plans do for d from now.
func (l *loop) after(d time.Duration, do func()) {
	l.seq++
	heap.Push(&l.planned, event{l.now + max(0, d), l.seq, do})
}

// step lets the next event happen.
func (l *loop) step() {
	e := heap.Pop(&l.planned).(event)
	l.now = e.at
	l.events++
	l.note(uint64(e.at))
	e.do()
}

// note something in the sum (FNV-1a, by words).
func (l *loop) note(v uint64) { l.sum = (l.sum ^ v) * 1099511628211 }

// tracing says whether anybody reads what say writes.
func (l *loop) tracing() bool { return l.trace != nil }

// say what happened, to whoever replays a seed: when, who, what.
func (l *loop) say(who, what string, args ...any) {
	if l.trace != nil {
		fmt.Fprintf(l.trace, "%12s  %-9s %s\n", fmt.Sprintf("%.3fms", float64(l.now)/1e6), who, fmt.Sprintf(what, args...))
	}
}

// maybe is true in that part of all cases.
func (l *loop) maybe(part float64) bool { return part > 0 && l.rng.Float64() < part }

// between a and b, evenly.
func (l *loop) between(a, b time.Duration) time.Duration {
	if b <= a {
		return a
	}
	return a + time.Duration(l.rng.Int64N(int64(b-a)))
}

// about is a waiting time of that mean, exponentially distributed: mostly short, at times long.
func (l *loop) about(mean time.Duration) time.Duration {
	return min(time.Duration(l.rng.ExpFloat64()*float64(mean)), 8*mean)
}

func pick[T any](l *loop, of ...T) T { return of[l.rng.IntN(len(of))] }
