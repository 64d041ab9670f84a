package load

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redlockd/bench/resp"
)

// The law of the histogram: never below the true quantile, at most 1/64 above it.
func TestHistogramQuantileLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var h, other Histogram
		var all []time.Duration
		for i := range 1 + rng.IntN(3000) {
			d := time.Duration(rng.Uint64N(1 << rng.UintN(maxBits+1)))
			all = append(all, d)
			if i%2 == 0 {
				h.Record(d)
			} else {
				other.Record(d)
			}
		}
		h.Merge(&other)
		slices.Sort(all)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			rank := 0
			for rank+1 < len(all) && float64(rank+1) < q*float64(len(all)) {
				rank++
			}
			got, want := h.Quantile(q), all[rank]
			if got < want || float64(got) > float64(want)*(1+1.0/64) {
				t.Fatalf("q=%v of %d: got %d, true is %d", q, len(all), got, want)
			}
		}
		if h.Max() != all[len(all)-1] || h.Count() != uint64(len(all)) {
			t.Fatal("max or count")
		}
	}
}

// Every value lies in its bucket, and the buckets follow each other without a gap.
func TestHistogramBuckets(t *testing.T) {
	for i := range nBuckets - 1 {
		if bucket(upper(i)) != i || bucket(upper(i)+1) != i+1 {
			t.Fatalf("bucket %d ends at %d; its neighbours begin elsewhere", i, upper(i))
		}
	}
	var h Histogram
	h.Record(-1)
	h.Record(time.Hour)
	if h.Quantile(0.5) != 0 || h.Quantile(1) != time.Hour || h.Mean() != time.Hour/2 {
		t.Fatalf("got %v, %v, %v", h.Quantile(0.5), h.Quantile(1), h.Mean())
	}
	if new(Histogram).Quantile(0.99) != 0 || new(Histogram).Mean() != 0 {
		t.Fatal("an empty histogram has a value")
	}
}

// serve answers the n-th command with answer(n, command), written in pieces of at most `piece` bytes.
func serve(t *testing.T, piece int, answer func(n int, args []string) string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go talk(conn, piece, answer)
		}
	}()
	return ln.Addr().String()
}

func talk(conn net.Conn, piece int, answer func(n int, args []string) string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		cmd, err := resp.Read(in)
		if err != nil {
			return
		}
		var args []string
		for _, item := range cmd.Items {
			args = append(args, item.Text)
		}
		out := answer(n, args)
		if out == "" {
			return
		}
		for len(out) > 0 {
			k := min(piece, len(out))
			if _, err := io.WriteString(conn, out[:k]); err != nil {
				return
			}
			out = out[k:]
		}
	}
}

func dial(t *testing.T, w Wire) Worker {
	t.Helper()
	c, err := w.Dial(7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// What is sent: every key once, the token of a release that of its take.
func TestCycleOnTheWire(t *testing.T) {
	var seen []string
	addr := serve(t, 100, func(_ int, args []string) string {
		seen = append(seen, strings.Join(args, " "))
		switch args[0] {
		case "SCRIPT":
			return "$40\r\n" + sha(Release) + "\r\n"
		case "SET":
			return "+OK\r\n"
		}
		return ":1\r\n"
	})
	c := dial(t, Wire{Addr: addr, Work: Cycle, Pipeline: 2, Keys: "lock"})
	for range 6 {
		if good, bad, err := c.Step(); good != 2 || bad != 0 || err != nil {
			t.Fatal(good, bad, err)
		}
	}
	c.Close()
	// The 11th and 12th cycle: the counter has two digits by then.
	want := []string{
		"SET lock:0007:0000000010 token:0007:0000000010 NX PX 30000",
		"SET lock:0007:0000000011 token:0007:0000000011 NX PX 30000",
		"EVALSHA " + sha(Release) + " 1 lock:0007:0000000010 token:0007:0000000010",
		"EVALSHA " + sha(Release) + " 1 lock:0007:0000000011 token:0007:0000000011",
	}
	if got := seen[len(seen)-4:]; !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

// Wrong answers are counted one by one, wherever they stand in a batch and however the bytes are cut; the right ones
// around them still count.
func TestWrongAnswersAreCounted(t *testing.T) {
	wrong := map[int]string{
		0: "$-1\r\n", 3: "-NOQUORUM 1 of 5\r\n", 4: "$100\r\n" + strings.Repeat("x", 100) + "\r\n", 9: "*2\r\n+OK\r\n+OK\r\n", 15: ":1\r\n",
	}
	for _, piece := range []int{1, 2, 3, 7, 1000} {
		addr := serve(t, piece, func(n int, _ []string) string {
			if w, ok := wrong[n]; ok {
				return w
			}
			return "+OK\r\n"
		})
		c := dial(t, Wire{Addr: addr, Work: Take, Pipeline: 16, Keys: "lock"})
		for _, want := range []int{len(wrong), 0, 0} {
			good, bad, err := c.Step()
			if good != 16-want || bad != want || err != nil {
				t.Fatalf("pieces of %d: %d good, %d bad, %v", piece, good, bad, err)
			}
		}
		if got := c.Wrong(); got != "got (nil), want +OK" {
			t.Fatal(got)
		}
	}
}

func TestBrokenAndHungServersAreErrors(t *testing.T) {
	var closing atomic.Bool
	addr := serve(t, 100, func(n int, _ []string) string {
		if n == 20 && closing.Load() {
			return ""
		}
		return "+PONG\r\n"
	})
	closing.Store(true)
	plan := Plan{Clients: 3, Measure: 50 * time.Millisecond, Dial: Wire{Addr: addr, Work: Ping, Pipeline: 1}.Dial}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Errors != 3 || r.Ops != 60 || !strings.Contains(r.FirstError, "closed the connection") {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := (Wire{Addr: addr, Work: Cycle, Pipeline: 1}).Dial(0); err == nil || !strings.Contains(err.Error(), "SCRIPT LOAD") {
		t.Fatalf("a script that was not loaded: %v", err)
	}
}

// stuck never answers until it is closed.
type stuck struct{ closed chan struct{} }

func (s stuck) Step() (int, int, error) { <-s.closed; return 0, 0, errors.New("closed") }
func (s stuck) Wrong() string           { return "" }
func (s stuck) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

func TestCancelDoesNotWaitForTheHung(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	plan := Plan{Clients: 2, Measure: time.Hour, Dial: func(int) (Worker, error) { return stuck{make(chan struct{})}, nil }}
	began := time.Now()
	if r, err := Run(ctx, plan); !errors.Is(err, context.DeadlineExceeded) || r.Errors != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if time.Since(began) > Grace/2 {
		t.Fatal("waited for a hung client")
	}
}

// slow answers every 10 ms.
type slow struct{}

func (slow) Step() (int, int, error) { time.Sleep(10 * time.Millisecond); return 1, 0, nil }
func (slow) Wrong() string           { return "" }
func (slow) Close() error            { return nil }

func TestWarmupIsNotCounted(t *testing.T) {
	var calls []string
	hook := func(name string) func() error {
		return func() error { calls = append(calls, name); return nil }
	}
	plan := Plan{
		Clients: 1, Warmup: 200 * time.Millisecond, Measure: 100 * time.Millisecond,
		Dial: func(int) (Worker, error) { return slow{}, nil }, AtStart: hook("start"), AtEnd: hook("end"),
	}
	r, err := Run(context.Background(), plan)
	if err != nil || r.Ops == 0 || r.Ops > 10 || r.Errors != 0 || r.Latency.Quantile(0) < 10*time.Millisecond {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.Equal(calls, []string{"start", "end"}) {
		t.Fatal(calls)
	}
	plan.AtStart = func() error { return errors.New("cannot break it") }
	if _, err := Run(context.Background(), plan); err == nil || !strings.Contains(err.Error(), "cannot break it") {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), Plan{}); !errors.Is(err, ErrNoClients) {
		t.Fatal(err)
	}
}

// The generator must not be what is measured: a step allocates nothing.
func TestStepDoesNotAllocate(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	out := []byte(strings.Repeat("+OK\r\n", 16))
	w := Wire{Work: Take, Pipeline: 16, Keys: "lock"}
	batches, _, err := w.batches(0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		in := make([]byte, len(batches[0].out))
		for {
			if _, err := io.ReadFull(far, in); err != nil {
				return
			}
			if _, err := far.Write(out); err != nil {
				return
			}
		}
	}()
	c := &wireClient{conn: near, batches: batches, per: 16, in: make([]byte, maxReplies)}
	defer c.Close()
	if n := testing.AllocsPerRun(100, func() {
		if good, _, _ := c.Step(); good != 16 {
			t.Error("not all good")
		}
	}); n != 0 {
		t.Fatalf("%v allocations a step", n)
	}
}
