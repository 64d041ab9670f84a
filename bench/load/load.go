// Package load drives clients against a server and measures how they fare. It knows no lock and no Redis: a Worker does
// one piece of work and says how it went; Wire is the Worker that speaks RESP. Another client library is measured by
// writing another Worker.
//
// In a closed loop every client waits for its answer before it sends the next. So a server that stalls is also
// asked less, and a stall counts once per client, not once per request that a steady stream would have had waiting. Compare latencies
// of rows with the same clients and pipeline only. What a steady stream sees, the open loop measures (Plan.Rate): each batch has
// its moment, and its latency counts from there, whatever became of the ones before ("coordinated omission" is that not being so).
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Worker is one client. Step sends one batch, waits for all its answers and says how many were as expected and how
// many were not. An error ends this client: its connection is of no more use. Wrong is the first wrong answer, for the
// report: later ones are often its consequences. Step and Wrong are called by one goroutine; Close may come from another to
// unblock a Step.
type Worker interface {
	Step() (good, bad int, err error)
	Wrong() string
	Close() error
}

// Plan is one measurement.
type Plan struct {
	Clients int           // in an open loop: the pool
	Rate    float64       // batches per second in an open loop; 0: closed loop
	Warmup  time.Duration // not counted, except for its errors
	Measure time.Duration
	Dial    func(client int) (Worker, error)

	// AtStart and AtEnd, if set, run when the measured time begins and ends: to break something, to read the CPU time of the servers.
	AtStart, AtEnd func() error
}

// Grace is how long, after the measured time, an answer may still take before its client counts as hung.
const Grace = 5 * time.Second

// ErrNoClients is a plan without anybody to carry it out.
var ErrNoClients = errors.New("load: a plan needs at least one client")

// Result is what a Plan gave.
type Result struct {
	Measured   time.Duration
	Ops        uint64     // as expected, answered within the measured time
	Granted    uint64     // of them, where the workers are a Tally; the rest were refused
	Errors     uint64     // every wrong answer, broken connection and hung client, warm-up included
	FirstError string     // one of them
	Late       float64    // open loop: share of the batches that were not sent within LateLimit of their moment
	Never      uint64     // open loop: batches that were not sent at all; their latency counts up to the end of the row
	Latency    *Histogram // of batches begun within the measured time, also when they ended after it
}

// PerSecond is the rate of good answers.
func (r Result) PerSecond() float64 {
	if r.Measured <= 0 {
		return 0
	}
	return float64(r.Ops) / r.Measured.Seconds()
}

// client is one Worker and what was counted for it. Nothing is shared between clients while they run.
type client struct {
	worker   Worker
	latency  Histogram
	ops, bad uint64
	granted  uint64
	sample   string
	late     uint64 // open loop: batches of the measured time sent late or never, and all of them
	never    uint64
	begun    uint64
	_        [64]byte // two clients' counters never on one cache line
}

// Run carries out a plan. The error is about the plan (no connection, a hook failed, ctx done); what the server got wrong
// is in the Result, which is valid also beside an error of a hook or of ctx.
func Run(ctx context.Context, plan Plan) (Result, error) {
	if plan.Clients < 1 {
		return Result{}, ErrNoClients
	}
	clients, err := dialAll(plan)
	defer func() {
		for _, c := range clients {
			_ = c.worker.Close()
		}
	}()
	if err != nil {
		return Result{}, err
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	base := time.Now()
	if plan.Rate > 0 {
		newOpenLoop(plan, base, clients, &stop).start(&wg)
	} else {
		for _, c := range clients {
			wg.Go(func() { c.loop(base, plan.Warmup, plan.Warmup+plan.Measure, &stop) })
		}
	}
	hookErr := plan.Hooks(ctx, base)
	stop.Store(true)
	grace := Grace
	if ctx.Err() != nil {
		grace = 0 // the row is void anyway; do not keep a waiting Ctrl-C
	}
	hung := await(&wg, clients, grace)
	result := sum(clients, plan.Measure)
	if hung {
		result.FirstError = fmt.Sprintf("no answer within %v after the end; %s", Grace, result.FirstError)
	}
	return result, hookErr
}

func dialAll(plan Plan) ([]*client, error) {
	var clients []*client
	for i := range plan.Clients {
		w, err := plan.Dial(i)
		if err != nil {
			return clients, fmt.Errorf("client %d of %d: %w", i+1, plan.Clients, err)
		}
		clients = append(clients, &client{worker: w})
	}
	return clients, nil
}

// loop is a client's life. The clock is read once per batch: the end of one is the start of the next. Times are counted from base.
func (c *client) loop(base time.Time, from, to time.Duration, stop *atomic.Bool) {
	tally, _ := c.worker.(Tally)
	for now := time.Since(base); now < to && !stop.Load(); {
		var before uint64
		if tally != nil {
			before = tally.Granted()
		}
		good, bad, err := c.worker.Step()
		began := now
		now = time.Since(base)
		if c.failed(bad, err) {
			return
		}
		if began >= from {
			c.latency.Record(now - began)
		}
		if now >= from && now < to {
			c.ops += uint64(good)
			if tally != nil {
				c.granted += tally.Granted() - before
			}
		}
	}
}

// failed counts what was wrong with a step, and says whether the client is of no more use.
func (c *client) failed(bad int, err error) bool {
	if bad > 0 {
		c.bad += uint64(bad)
		c.sample = c.worker.Wrong()
	}
	if err != nil {
		c.bad++
		c.sample = err.Error()
	}
	return err != nil
}

// Hooks sleeps through the plan, which began at base, and calls its hooks on time. Run does that; a generator in another
// process needs it too.
func (plan Plan) Hooks(ctx context.Context, base time.Time) error {
	steps := []struct {
		at   time.Duration
		hook func() error
	}{{plan.Warmup, plan.AtStart}, {plan.Warmup + plan.Measure, plan.AtEnd}}
	for _, s := range steps {
		timer := time.NewTimer(s.at - time.Since(base))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		if s.hook == nil {
			continue
		}
		if err := s.hook(); err != nil {
			return fmt.Errorf("%v into the row: %w", s.at, err)
		}
	}
	return nil
}

// await waits for the clients to end, and unblocks those that hang by closing their connections.
func await(wg *sync.WaitGroup, clients []*client, grace time.Duration) (hung bool) {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
	}
	for _, c := range clients {
		_ = c.worker.Close()
	}
	<-done
	return true
}

func sum(clients []*client, measured time.Duration) Result {
	r := Result{Measured: measured, Latency: new(Histogram)}
	var late, begun uint64
	for _, c := range clients {
		r.Ops += c.ops
		r.Granted += c.granted
		r.Errors += c.bad
		if r.FirstError == "" {
			r.FirstError = c.sample
		}
		r.Latency.Merge(&c.latency)
		r.Never += c.never
		late += c.late
		begun += c.begun
	}
	if begun > 0 {
		r.Late = float64(late) / float64(begun)
	}
	return r
}
