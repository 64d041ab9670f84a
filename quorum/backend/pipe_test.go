package backend

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

const ms = time.Millisecond

// fixture is a pipe to a simulated node, in a bubble of virtual time.
type fixture struct {
	*testing.T
	node  *quorumtest.Node
	pipe  *Pipe
	clock func() time.Duration
}

func inBubble(t *testing.T, change func(*Options), test func(fixture)) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		f := fixture{T: t, node: quorumtest.NewNode(), clock: func() time.Duration { return time.Since(started) }}
		o := Options{
			Network: "tcp", Address: "node:1", Name: "node:1",
			Patience:    quorum.Patience{Timeout: 50 * ms, Limit: 500 * ms, Silence: time.Second},
			DialTimeout: time.Second, ReconnectMin: 10 * ms, ReconnectMax: 100 * ms,
			Queue: 100, Owed: 10,
			Dial: f.node.Dial, Clock: f.clock, Wall: time.Now, MaxLife: time.Minute, Tolerance: 500 * ms, Log: slog.New(slog.DiscardHandler),
		}
		if change != nil {
			change(&o)
		}
		f.pipe = Open(o)[0]
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			f.node.Resume()
			f.pipe.Close(ctx)
			f.node.Cut()
		}()
		synctest.Wait()
		test(f)
	})
}

// heard collects what a pipe says of one request.
type heard struct {
	mu      sync.Mutex
	answers []quorum.Answer
}

func (h *heard) Hear(_ int, a quorum.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, a)
}

func (h *heard) all() []quorum.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]quorum.Answer(nil), h.answers...)
}

func take(key, token string, life time.Duration) *quorum.Request {
	return &quorum.Request{Op: quorum.Take, Key: []byte(key), Token: []byte(token), TTL: life, Life: life}
}

func (f fixture) send(req *quorum.Request) *heard {
	h := &heard{}
	Encode(req)
	f.pipe.Send(req, f.clock(), h, 0)
	f.pipe.Flush(f.clock())
	return h
}

// want waits for d of virtual time, and says what must have been heard by then.
func (f fixture) want(h *heard, after time.Duration, want ...quorum.Answer) {
	f.Helper()
	time.Sleep(after)
	synctest.Wait()
	got := h.all()
	if len(got) != len(want) {
		f.Fatalf("heard %+v, want %d answers", got, len(want))
	}
	for i := range got {
		if got[i].Vote != want[i].Vote || got[i].Trace != want[i].Trace {
			f.Fatalf("answer %d: %v %d (%v), want %v %d", i, got[i].Vote, got[i].Trace, got[i].Err, want[i].Vote, want[i].Trace)
		}
	}
}

var (
	yes     = quorum.Answer{Vote: quorum.Yes}
	no      = quorum.Answer{Vote: quorum.No}
	nothing = quorum.Answer{Trace: quorum.Nothing}
	awaited = quorum.Answer{Trace: quorum.Awaited}
	lost    = quorum.Answer{Trace: quorum.Lost}
)

func (f fixture) holds(key, want string) {
	f.Helper()
	if got, _ := f.node.Value(key); got != want {
		f.Fatalf("%s is %q, want %q", key, got, want)
	}
}

func TestR5TakeIsOneAtomicCommand(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.want(f.send(take("k", "t1", time.Second)), 0, yes)
		f.want(f.send(take("k", "t2", time.Second)), 0, no)
		f.holds("k", "t1")
		sets := f.node.Seen("SET")
		if got := strings.Join(sets[0], " "); got != "SET k t1 NX PX 1000" {
			t.Fatal(got)
		}
	})
}

func TestR7ReleaseComparesAndDeletes(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.send(take("k", "t1", time.Second))
		release := func(token string) *heard {
			return f.send(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte(token)})
		}
		other := release("t2")
		f.want(other, 0, no)
		if n := other.all()[0].Number; n != quorum.Other {
			t.Fatal(n)
		}
		own := release("t1")
		f.want(own, 0, yes)
		if n := own.all()[0].Left; n != 1000 {
			t.Fatalf("remaining time %d", n)
		}
		missing := release("t1")
		f.want(missing, 0, no)
		if n := missing.all()[0].Number; n != quorum.Missing {
			t.Fatal(n)
		}
	})
}

func TestExtend(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.send(take("k", "t", time.Second))
		extend := func(token string, life, cap time.Duration, add bool) *heard {
			return f.send(&quorum.Request{Op: quorum.Extend, Key: []byte("k"), Token: []byte(token), Life: life, Cap: cap, Add: add})
		}
		f.want(extend("other", 5*time.Second, 0, false), 0, no)
		f.want(extend("t", 5*time.Second, 0, false), 0, yes)
		if left := f.node.Left("k"); left != 5*time.Second {
			t.Fatal(left)
		}
		f.want(extend("t", 2*time.Second, time.Minute, true), 0, yes)
		if left := f.node.Left("k"); left != 7*time.Second {
			t.Fatal(left)
		}
		f.want(extend("t", 2*time.Second, 8*time.Second, true), 0, yes)
		if left := f.node.Left("k"); left != 8*time.Second {
			t.Fatalf("beyond the cap: %v", left)
		}
	})
}

func TestReads(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put("k", "v", time.Minute)
		f.node.Put("forever", "v", 0)
		f.want(f.send(&quorum.Request{Op: quorum.Get, Key: []byte("nope")}), 0, no)
		get := f.send(&quorum.Request{Op: quorum.Get, Key: []byte("k")})
		f.want(get, 0, yes)
		seen := f.send(&quorum.Request{Op: quorum.Inspect, Keys: [][]byte{[]byte("k"), []byte("nope"), []byte("forever")}})
		f.want(seen, 0, yes)
		want := []quorum.Held{{Exists: true, Value: []byte("v"), Left: 60000}, {Left: -2}, {Exists: true, Value: []byte("v"), Left: quorum.Forever}}
		if a := seen.all()[0]; !reflect.DeepEqual(a.Seen, want) || string(get.all()[0].Value) != "v" {
			t.Fatalf("%+v", a)
		}
	})
}

// A hung node costs a node timeout at most; after a while nothing, for it is not asked any more; and its
// late answer is heard.
func TestR12HungNode(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Hang()
		first := f.send(take("k", "t", time.Minute))
		f.want(first, 49*ms)
		f.want(first, 1*ms, awaited)
		time.Sleep(149 * ms)
		f.want(f.send(take("k1", "t", time.Minute)), 50*ms, awaited)
		f.want(f.send(take("k2", "t", time.Minute)), 0, nothing)
		if s := f.pipe.State(); s.Health != quorum.Silent {
			t.Fatalf("%+v", s)
		}
		f.node.Resume()
		f.want(first, 0, awaited, yes)
		f.want(f.send(take("k2", "t", time.Minute)), 0, yes)
	})
}

// Silent for longer than node-silence: redialled. What it was sent before is not forgotten:
// it carries that out when it goes on, and we hear of it.
func TestSilentNodeIsRedialledAndItsLateYesHeard(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Hang()
		first := f.send(take("k", "t", time.Minute))
		f.want(first, 10*time.Second, awaited)
		if s := f.pipe.State(); s.Health != quorum.Down {
			t.Fatalf("%+v", s)
		}
		f.node.Resume()
		f.want(first, time.Second, awaited, yes)
		if s := f.pipe.State(); s.Health != quorum.Up {
			t.Fatalf("%+v", s)
		}
	})
}

// The undo is on the same pipe behind its request, so that it cannot overtake it.
func TestR17UndoCannotOvertakeItsRequest(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Slow(20 * ms)
		f.send(take("k", "t", time.Minute))
		f.pipe.Owe(&quorum.Request{Op: quorum.TakeBack, Key: []byte("k"), Token: []byte("t"), Life: time.Minute, SetBy: f.clock() + 20*ms}, time.Hour)
		time.Sleep(100 * ms)
		synctest.Wait()
		f.holds("k", "")
		var order []string
		for _, c := range f.node.Seen("SET", "EVALSHA") {
			if c[1] != probe.hash {
				order = append(order, c[0])
			}
		}
		if strings.Join(order, " ") != "SET EVALSHA" {
			t.Fatal(order)
		}
	})
}

// The same token again, after our attempt's lock was gone: not ours to delete.
func TestUndoLeavesTheNextHolderAlone(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		life := time.Minute
		set := f.clock()
		f.node.Put("k", "shared", life)
		time.Sleep(10 * time.Second)
		f.node.Put("k", "shared", life) // taken anew, ten seconds later
		undo := &quorum.Request{Op: quorum.TakeBack, Key: []byte("k"), Token: []byte("shared"), Life: life, SetBy: set}
		f.pipe.Owe(undo, time.Hour)
		synctest.Wait()
		f.holds("k", "shared")

		f.node.Put("k", "shared", life-10*time.Second) // as if it were the first still
		f.pipe.Owe(undo, time.Hour)
		synctest.Wait()
		f.holds("k", "")
	})
}

func TestLostConnection(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Hang()
		flying := f.send(take("k", "t", time.Minute))
		synctest.Wait()
		f.node.Cut()
		f.want(flying, 0, lost)
		f.node.Resume()
		f.want(f.send(take("k2", "t", time.Minute)), time.Second, nothing)
		f.want(f.send(take("k3", "t", time.Minute)), 0, yes) // it has reconnected by itself
	})
}

func TestDownNodeFailsAtOnceAndIsPickedUp(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Kill()
		time.Sleep(time.Second)
		h := f.send(take("k", "t", time.Minute))
		f.want(h, 0, nothing)
		if err := h.all()[0].Err; err == nil || err.Error() != "connection refused" {
			t.Fatal(err)
		}
		f.node.Start()
		time.Sleep(time.Second)
		f.want(f.send(take("k", "t", time.Minute)), 0, yes)
	})
}

// What is owed to a node that is away reaches it when it is back, before anything else, and
// not if its time is over.
func TestR19OwedReleaseWaitsForTheNode(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Kill()
		synctest.Wait()
		f.node.Put("k", "t", time.Hour)
		f.node.Put("late", "t", time.Hour)
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("t")}, f.clock()+time.Hour)
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("late"), Token: []byte("t")}, f.clock()+time.Second)
		if s := f.pipe.State(); s.Owed != 2 {
			t.Fatalf("%+v", s)
		}
		time.Sleep(2 * time.Second)
		f.node.Start()
		time.Sleep(time.Second)
		synctest.Wait()
		f.holds("k", "")
		f.holds("late", "t")
	})
}

func TestOwedIsBounded(t *testing.T) {
	inBubble(t, func(o *Options) { o.Owed = 2 }, func(f fixture) {
		f.node.Kill()
		synctest.Wait()
		owe := func(until time.Duration) {
			f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("t")}, f.clock()+until)
		}
		owe(time.Second)
		owe(time.Hour)
		owe(time.Hour)
		if s := f.pipe.State(); s.Owed != 2 || s.Dropped != 1 {
			t.Fatalf("%+v", s)
		}
		time.Sleep(2 * time.Second) // the first is over and makes room
		owe(time.Hour)
		if s := f.pipe.State(); s.Owed != 2 || s.Dropped != 1 {
			t.Fatalf("%+v", s)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	inBubble(t, func(o *Options) { o.Queue = 3 }, func(f fixture) {
		f.node.Hang()
		for range 3 {
			f.want(f.send(take("k", "t", time.Minute)), 0)
		}
		full := f.send(take("k", "t", time.Minute))
		f.want(full, 0, nothing)
		if err := full.all()[0].Err.Error(); err != "queue full with 3 requests" {
			t.Fatal(err)
		}
	})
}

// A node that has lost our scripts is given their text.
func TestScriptFlushedOnTheNode(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.send(take("k", "t", time.Second))
		quorumtest.ForgetScripts()
		f.want(f.send(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("t")}), 0, yes)
		f.holds("k", "")
	})
}

// An error of the node is unknown, never no (R13), and it did nothing.
func TestR13ErrorIsUnknown(t *testing.T) {
	for _, text := range []string{"LOADING Redis is loading", "MISCONF no disk", "OOM", "READONLY", "NOAUTH", "NOPERM"} {
		inBubble(t, nil, func(f fixture) {
			f.node.Refuse(text)
			h := f.send(take("k", "t", time.Second))
			f.want(h, 0, nothing)
			if got := h.all()[0].Err.Error(); got != text {
				t.Fatal(got)
			}
			if s := f.pipe.State(); s.Health != quorum.Up || s.Why != text {
				t.Fatalf("%+v", s)
			}
		})
	}
}

// dialler is Options.Dial.
type dialler = func(context.Context, string, string) (net.Conn, error)

// through is dial, with read between the node and us: it is given what the node answers, may change it, and says how
// much of buf that is.
func through(dial dialler, read func(buf []byte, n int) int) dialler {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		node, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		near, far := quorumtest.Pipe()
		go func() {
			io.Copy(node, far)
			node.Close()
		}()
		go func() {
			defer far.Close()
			buf := make([]byte, 64<<10)
			for {
				n, err := node.Read(buf)
				if err != nil {
					return
				}
				far.Write(buf[:read(buf, n)])
			}
		}()
		return near, nil
	}
}

// spoiled is dial, but for what a node answers once spoil is set.
func spoiled(dial dialler, garbage string, spoil *atomic.Bool) dialler {
	return through(dial, func(buf []byte, n int) int {
		if spoil.Load() {
			n = copy(buf, garbage)
		}
		return n
	})
}

// A node that sends what no Redis sends costs its connection, not the process.
func TestGarbageFromANode(t *testing.T) {
	for _, garbage := range []string{"!\r\n", "$99999999999999999999\r\n", "$-7\r\n", ":x\r\n", "\r\n"} {
		var spoil atomic.Bool
		inBubble(t, func(o *Options) { o.Dial = spoiled(o.Dial, garbage, &spoil) }, func(f fixture) {
			spoil.Store(true)
			f.want(f.send(take("k", "t", time.Second)), 0, lost)
		})
	}
}

// Many requests are in flight on one connection. A node that has many to answer and does so is not
// hung, up to the round limit.
func TestManyRoundsInFlight(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Slow(10 * ms) // for each command, one after the other
		var all []*heard
		for i := range 60 {
			all = append(all, f.send(take(string(rune('A'+i)), "t", time.Minute)))
			synctest.Wait() // a flush each, so that answers come in one by one
		}
		time.Sleep(499 * ms)
		synctest.Wait()
		for i, h := range all {
			if a := h.all(); i < 49 && (len(a) != 1 || a[0].Vote != quorum.Yes) || i >= 50 && len(a) != 0 {
				t.Fatalf("request %d: %+v", i, a)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i, h := range all[51:] {
			if a := h.all(); len(a) != 2 || a[0].Trace != quorum.Awaited || a[1].Vote != quorum.Yes {
				t.Fatalf("request %d: %+v", 51+i, a)
			}
		}
	})
}

// A node that says NOSCRIPT to what is no script is told nothing again.
func TestNoScriptForNoScript(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Refuse("NOSCRIPT what script?")
		f.want(f.send(take("k", "t", time.Second)), 0, nothing)
	})
}

// A vote is due in time also when the node had been silent before.
func TestR12TimeoutAfterSilence(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Hang()
		first := f.send(take("k", "t", time.Minute))
		f.want(first, 300*ms, awaited)
		f.node.Resume()
		f.want(first, 0, awaited, yes)
		f.node.Hang()
		f.want(f.send(take("k2", "t", time.Minute)), 50*ms, awaited)
		f.want(f.send(take("k3", "t", time.Minute)), 50*ms, awaited)
	})
}

// What is owed is told again when the node has answered it with an error, and when there was no room.
func TestOwedIsToldAgain(t *testing.T) {
	inBubble(t, func(o *Options) { o.Queue = 1 }, func(f fixture) {
		f.node.Put("k", "t", time.Hour)
		f.node.Put("k2", "t", time.Hour)
		f.node.Refuse("MISCONF no disk")
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("t")}, f.clock()+time.Hour)
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k2"), Token: []byte("t")}, f.clock()+time.Hour)
		time.Sleep(10 * time.Second)
		f.holds("k", "t")
		f.node.Refuse("")
		time.Sleep(5*time.Second + ms) // beside the looks at an idle node, which come every half second
		synctest.Wait()
		f.holds("k", "")
		f.holds("k2", "")
		if s := f.pipe.State(); s.Owed != 0 || s.Queued != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

// What is owed goes before anything that is taken from then on; and what was owed and lost is owed again.
func TestOwedGoesFirst(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put("k", "shared", time.Hour)
		f.node.Hang()
		f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("shared")}, f.clock()+time.Hour)
		synctest.Wait()
		f.node.Cut() // the release is lost
		f.node.Resume()
		time.Sleep(ms)
		f.holds("k", "shared")
		for range 1000 { // until it is connected again
			h := f.send(take("k", "shared", time.Hour))
			synctest.Wait()
			if h.all()[0].Vote != quorum.Unknown {
				f.want(h, 0, yes)
				break
			}
			time.Sleep(ms)
		}
		time.Sleep(time.Second)
		f.holds("k", "shared")
	})
}

// The connection before is ended on the node before the new one is used: nothing of it is carried out later.
func TestOnePipeAtATime(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Put("k", "shared", time.Hour)
		f.node.HoldConnections() // what we send from here on is held up on its way
		f.send(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("shared")})
		time.Sleep(5 * time.Second) // given up, and connected anew
		if s := f.pipe.State(); s.Health != quorum.Up {
			t.Fatalf("%+v", s)
		}
		f.node.Put("k", "shared", time.Hour) // the next holder, with the same token
		f.node.ReleaseConnections()
		time.Sleep(time.Second)
		f.holds("k", "shared")
	})
}

// A restarted node counts its connections anew: the number that ours had may be another's.
func TestRestartedNodeIsNotAskedToKill(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Cut() // the same instance
		time.Sleep(time.Second)
		if kills := killed(f.node); kills != 1 {
			t.Fatalf("%d after a cut", kills)
		}
		f.node.Kill()
		f.node.Start()
		time.Sleep(time.Second)
		if kills := killed(f.node); kills != 1 {
			t.Fatalf("%d after a restart", kills)
		}
		f.want(f.send(take("k", "t", time.Second)), 0, yes)
	})
}

func killed(n *quorumtest.Node) (kills int) {
	for _, c := range n.Seen("CLIENT") {
		if c[1] == "KILL" && c[3] != "9223372036854775807" { // that is the probe

			kills++
		}
	}
	return kills
}

// A node that refuses everything is not kept busy with what it is owed.
func TestOwedIsToldAFlightAtATime(t *testing.T) {
	inBubble(t, func(o *Options) { o.Owed, o.Queue = 4*maxFlight, 4*maxFlight }, func(f fixture) {
		f.node.Refuse("READONLY")
		for range 3 * maxFlight {
			f.pipe.Owe(&quorum.Request{Op: quorum.Release, Key: []byte("k"), Token: []byte("t")}, f.clock()+time.Hour)
		}
		synctest.Wait()
		before := len(f.node.Seen("EVALSHA"))
		time.Sleep(retryOwed + ms)
		synctest.Wait()
		if told := len(f.node.Seen("EVALSHA")) - before; told != maxFlight {
			t.Fatalf("%d at once", told)
		}
		f.node.Refuse("")
		time.Sleep(4 * retryOwed)
		synctest.Wait()
		if s := f.pipe.State(); s.Owed != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

// distant is dial to a node from which every answer takes d.
func distant(dial dialler, d time.Duration) dialler {
	return through(dial, func(_ []byte, n int) int {
		time.Sleep(d)
		return n
	})
}

// A node that is far away is never read exactly, and is connected all the same.
func TestDistantNodeIsConnected(t *testing.T) {
	inBubble(t, func(o *Options) { o.Dial = distant(o.Dial, 45*ms) }, func(f fixture) {
		time.Sleep(time.Second)
		synctest.Wait()
		if s := f.pipe.State(); s.Health != quorum.Up || !s.Vouched {
			t.Fatalf("%+v", s)
		}
	})
}

// Two addresses that lead to one instance are one vote, not two; where the first leads nowhere any more, the second may vote.
func TestTwinsVoteOnce(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		var cut atomic.Bool
		first, second := f.pipe.opts, f.pipe.opts
		second.Name, second.Address = "node:2", "node:2"
		dial := first.Dial
		first.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if cut.Load() {
				return nil, errors.New("no route")
			}
			return dial(ctx, network, address)
		}
		pipes := Open(first, second)
		defer func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			for _, p := range pipes {
				p.Close(ctx)
			}
		}()
		up := func() (n int, why string) {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, p := range pipes {
				if s := p.State(); s.Health == quorum.Up {
					n++
				} else {
					why = s.Why
				}
			}
			return n, why
		}
		if n, why := up(); n != 1 || !strings.Contains(why, "is the same instance as node:") {
			t.Fatalf("%d are up; %s", n, why)
		}
		cut.Store(true)
		f.node.Cut()
		if n, _ := up(); n != 1 || pipes[1].State().Health != quorum.Up {
			t.Fatalf("%d are up", n)
		}
	})
}

// A node is not blamed for what it was not sent: a request that waits to be flushed is neither timed out nor does it make the node silent.
func TestR12UnflushedIsNotLate(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		h := &heard{}
		req := take("k", "t", time.Minute)
		Encode(req)
		f.pipe.Send(req, f.clock(), h, 0)
		f.want(h, 450*ms)
		if s := f.pipe.State(); s.Health != quorum.Up {
			t.Fatalf("%v: %s", s.Health, s.Why)
		}
		f.pipe.Flush(f.clock())
		f.want(h, 0, yes)
	})
}

// A request that was waiting to be flushed when its node fell silent is written all the same, so that it is timed out like any other, and
// carried out if the node goes on.
func TestR12UnflushedWhenTheNodeFallsSilent(t *testing.T) {
	inBubble(t, nil, func(f fixture) {
		f.node.Hang()
		before := f.send(take("a", "t", time.Minute))
		f.want(before, 195*ms, awaited)
		h := &heard{}
		req := take("b", "t", time.Minute)
		Encode(req)
		f.pipe.Send(req, f.clock(), h, 0)
		time.Sleep(10 * ms)
		if s := f.pipe.State(); s.Health != quorum.Silent {
			t.Fatal(s.Health)
		}
		f.pipe.Flush(f.clock())
		f.want(h, 60*ms, awaited)
		f.node.Resume()
		f.want(before, 0, awaited, yes)
		f.want(h, 0, awaited, yes)
	})
}
