package load

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Piped is a Worker that can send a batch while earlier ones are not answered yet. One goroutine sends, another receives.
type Piped interface {
	Worker
	Send() error
	Receive() (good, bad int, err error) // of the oldest batch
}

// LateLimit is by how much a batch may be sent late and still be on schedule.
const LateLimit = time.Millisecond

const (
	longestSleep = 50 * time.Millisecond // then it looks whether all is over
	maxQueued    = 1 << 22               // batches that wait for their answer or a worker, at most: 64 MiB of moments
	seed         = 5                     // of the arrivals: every row has the same, in its own unit of time
)

// openLoop sends each batch at its moment: the gaps between them are drawn as between independent arrivals (Poisson).
//
// Piped workers are sent to in turn, whatever they still owe. Other workers are a pool: a batch waits until one is free, as in an
// application, and that wait is part of its latency.
type openLoop struct {
	base     time.Time
	from, to time.Duration // the measured time, from base
	gap      float64       // between two batches, on average, in nanoseconds
	clients  []*client
	stop     *atomic.Bool // set at the end of the measured time; sent is nothing more
	queues   []chan moment
	pool     atomic.Int64 // workers that are not Piped and still work
}

// moment is when a batch was to be sent, and by how much that was missed; the latter only of Piped workers.
type moment struct{ due, late time.Duration }

func newOpenLoop(plan Plan, base time.Time, clients []*client, stop *atomic.Bool) *openLoop {
	o := &openLoop{
		base: base, from: plan.Warmup, to: plan.Warmup + plan.Measure, gap: float64(time.Second) / plan.Rate, clients: clients, stop: stop,
	}
	all := 1.1*float64(o.to)/o.gap + 1000 // more batches there will not be: the dispatcher never waits for a queue
	queues := 1
	if _, ok := clients[0].worker.(Piped); ok {
		queues = len(clients)
	}
	for range queues {
		o.queues = append(o.queues, make(chan moment, min(maxQueued, int(all))/queues+1))
	}
	return o
}

// start starts the dispatcher and the clients.
func (o *openLoop) start(wg *sync.WaitGroup) {
	for i, c := range o.clients {
		if piped, ok := c.worker.(Piped); ok {
			wg.Go(func() { o.receive(c, piped, o.queues[i]) })
		} else {
			o.pool.Add(1)
			wg.Go(func() { o.work(c, o.queues[0]) })
		}
	}
	wg.Go(o.dispatch)
}

// dispatch sends, or has sent, every batch at its moment.
func (o *openLoop) dispatch() {
	runtime.LockOSThread() // not unlocked: the thread, with its sharp sleeps, ends with us
	sharpen()
	defer func() {
		for _, q := range o.queues {
			close(q)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, seed))
	due := time.Duration(0)
	for i := 0; ; i++ {
		due += time.Duration(rng.ExpFloat64() * o.gap)
		if due >= o.to {
			return
		}
		for now := time.Since(o.base); now < due; now = time.Since(o.base) {
			if o.stop.Load() {
				return
			}
			sleep(min(due-now, longestSleep))
		}
		m := moment{due: due}
		if piped, ok := o.clients[i%len(o.clients)].worker.(Piped); ok {
			m.late = time.Since(o.base) - due // a send that blocks makes the next ones late
			_ = piped.Send()                  // Receive will find the same
		}
		o.queues[i%len(o.queues)] <- m
	}
}

// receive is the life of a Piped client: the answers, in order.
func (o *openLoop) receive(c *client, w Piped, queue <-chan moment) {
	for m := range queue {
		good, bad, err := w.Receive()
		if c.failed(bad, err) {
			o.abandon(c, queue)
			return
		}
		o.count(c, m, good, m.late > LateLimit)
	}
}

// work is the life of a client of the pool.
func (o *openLoop) work(c *client, queue <-chan moment) {
	for m := range queue {
		if o.stop.Load() {
			o.neverSent(c, m)
			continue
		}
		late := time.Since(o.base)-m.due > LateLimit
		good, bad, err := c.worker.Step()
		if c.failed(bad, err) {
			if o.pool.Add(-1) == 0 {
				o.abandon(c, queue)
			}
			return // the others of the pool go on
		}
		o.count(c, m, good, late)
	}
}

// count counts an answered batch.
func (o *openLoop) count(c *client, m moment, good int, late bool) {
	now := time.Since(o.base)
	if m.due < o.from {
		return
	}
	c.begun++
	if late {
		c.late++
	}
	c.latency.Record(now - m.due)
	if now < o.to {
		c.ops += uint64(good)
	}
}

// neverSent counts a batch that nobody had time for: it waited at least to the end of the row.
func (o *openLoop) neverSent(c *client, m moment) {
	if m.due < o.from {
		return
	}
	c.begun++
	c.late++
	c.never++
	c.latency.Record(o.to - m.due)
}

// abandon counts what was to be sent on a broken connection.
func (o *openLoop) abandon(c *client, queue <-chan moment) {
	for m := range queue {
		o.neverSent(c, m)
	}
}
