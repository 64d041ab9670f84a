package load

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// step is a worker made of a function.
type step func() (good, bad int, err error)

func (s step) Step() (int, int, error) { return s() }
func (step) Wrong() string             { return "wrong" }
func (step) Close() error              { return nil }

// A stall counts for every batch that came meanwhile, not once: this is what corrects for coordinated omission.
func TestStallCountsForAllThatWait(t *testing.T) {
	const stall = 400 * time.Millisecond
	var n atomic.Int64
	once := step(func() (int, int, error) {
		if n.Add(1) == 20 {
			time.Sleep(stall)
		}
		return 1, 0, nil
	})
	plan := Plan{Clients: 1, Rate: 200, Measure: time.Second, Dial: func(int) (Worker, error) { return once, nil }}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	// About 80 of 200 came during the stall; the middle ones waited for half of it.
	if got := r.Latency.Quantile(0.8); got < stall/4 {
		t.Errorf("p80 is %v: the stall counts only for the one that was sent", got)
	}
	if r.Late < 0.2 {
		t.Errorf("only %.2f are late: a pool of one that is busy is behind schedule", r.Late)
	}
	if got := r.Latency.Count(); got < 120 || got > 280 {
		t.Errorf("%d batches in a second at 200 per second", got)
	}
}

// What nobody had time for is not forgotten.
func TestTooSlowAPoolIsSeen(t *testing.T) {
	crawl := step(func() (int, int, error) { time.Sleep(100 * time.Millisecond); return 1, 0, nil })
	plan := Plan{Clients: 2, Rate: 1000, Warmup: 50 * time.Millisecond, Measure: 400 * time.Millisecond, Dial: func(int) (Worker, error) { return crawl, nil }}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Never < 200 || r.Late < 0.9 || r.Ops > 20 || r.Latency.Count() < r.Never {
		t.Errorf("%+v", r)
	}
}

// A pool that breaks down: each error counts once, and what was still to be sent counts as never sent.
func TestBrokenPool(t *testing.T) {
	broken := step(func() (int, int, error) { return 0, 1, errors.New("reset") })
	plan := Plan{Clients: 3, Rate: 1000, Measure: 200 * time.Millisecond, Dial: func(int) (Worker, error) { return broken, nil }}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 6 || r.FirstError != "reset" || r.Ops != 0 || r.Never < 50 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// Batches are sent on time also while earlier ones are not answered, over the same connection, and all are answered in the end.
func TestSendingDoesNotWaitForAnswers(t *testing.T) {
	var answered atomic.Int64
	addr := serve(t, 1000, func(n int, _ []string) string {
		if n == 10 {
			time.Sleep(300 * time.Millisecond)
		}
		answered.Add(1)
		return "+OK\r\n"
	})
	plan := Plan{Clients: 1, Rate: 500, Measure: 500 * time.Millisecond, Dial: Wire{Addr: addr, Work: Take, Pipeline: 1, Keys: "lock"}.Dial}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 0 || r.Never != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := r.Latency.Count(); got != uint64(answered.Load()) || got < 150 {
		t.Errorf("%d counted, %d answered", got, answered.Load())
	}
	if got := r.Latency.Quantile(0.7); got < 50*time.Millisecond {
		t.Errorf("p70 is %v: who was sent during the stall did not wait for its end", got)
	}
}

// A server that hangs up: an error, and the rest was never sent.
func TestPipedConnectionBreaks(t *testing.T) {
	addr := serve(t, 1000, func(n int, _ []string) string {
		if n == 10 {
			return ""
		}
		return "+OK\r\n"
	})
	plan := Plan{Clients: 1, Rate: 500, Measure: 300 * time.Millisecond, Dial: Wire{Addr: addr, Work: Take, Pipeline: 1, Keys: "lock"}.Dial}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 1 || r.Ops != 10 || r.Never < 20 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// A server that takes nothing and answers nothing: the row ends, and says so.
func TestOpenLoopEndsWithTheHung(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	plan := Plan{Clients: 2, Rate: 5000, Measure: time.Hour, Dial: Wire{Addr: ln.Addr().String(), Work: Take, Pipeline: 64, Keys: "lock"}.Dial}
	began := time.Now()
	if r, err := Run(ctx, plan); !errors.Is(err, context.DeadlineExceeded) || r.Errors == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if time.Since(began) > Grace/2 {
		t.Error("waited for a server that hangs")
	}
}
