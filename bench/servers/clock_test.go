package servers

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func startWithClock(t *testing.T, args ...string) *Redis {
	t.Helper()
	start(t) // skips where there is no redis-server
	r, err := StartRedisWithClock(t.TempDir(), args...)
	check(t, err)
	t.Cleanup(func() { check(t, r.Close()) })
	return r
}

// look is one reading of a server's clock. The real time of the reading is between before and after.
type look struct{ before, reads, after time.Time }

func lookAt(t *testing.T, r *Redis) look {
	t.Helper()
	before := realTime()
	v, err := r.Do("TIME")
	check(t, err)
	var unix [2]int64
	for i := range unix {
		unix[i], err = strconv.ParseInt(v.([]any)[i].(string), 10, 64)
		check(t, err)
	}
	return look{before, time.Unix(unix[0], unix[1]*1000), realTime()}
}

// slack is what a reading may be off by, besides what the time of the reading is not known by.
const slack = 2 * time.Second

func wantOffset(t *testing.T, r *Redis, offset time.Duration) {
	t.Helper()
	l := lookAt(t, r)
	if l.reads.Before(l.before.Add(offset-slack)) || l.reads.After(l.after.Add(offset+slack)) {
		t.Fatalf("the clock is %v ahead, want %v", l.reads.Sub(l.before), offset)
	}
}

// wantRate says that between two looks the clock went on by rate times the real time.
func wantRate(t *testing.T, a, b look, rate float64) {
	t.Helper()
	wantRates(t, a, b, rate, rate)
}

// wantRates is for two looks between which the rate was changed: no jump was made, but for slack.
func wantRates(t *testing.T, a, b look, slow, fast float64) {
	t.Helper()
	least := time.Duration(float64(b.before.Sub(a.after))*slow) - slack
	most := time.Duration(float64(b.after.Sub(a.before))*fast) + slack
	if got := b.reads.Sub(a.reads); got < least || got > most {
		t.Fatalf("the clock went on by %v, want %v to %v", got, least, most)
	}
}

func pttl(t *testing.T, r *Redis, key string) time.Duration {
	t.Helper()
	v, err := r.Do("PTTL", key)
	check(t, err)
	return time.Duration(v.(int64)) * time.Millisecond
}

func wantPTTL(t *testing.T, r *Redis, least, most time.Duration) {
	t.Helper()
	if got := pttl(t, r, "k"); got < least || got > most {
		t.Fatalf("PTTL is %v, want %v to %v", got, least, most)
	}
}

func TestClockOffset(t *testing.T) {
	r := startWithClock(t)
	wantOffset(t, r, 0)
	_, err := r.Do("SET", "k", "v", "PX", 600_000)
	check(t, err)
	for _, offset := range []time.Duration{30 * time.Second, -30 * time.Second, 1500 * time.Millisecond, 0} {
		check(t, r.SetClock(offset))
		wantOffset(t, r, offset)
		wantPTTL(t, r, 9*time.Minute-offset, 10*time.Minute-offset)
	}
	check(t, r.SetClock(11*time.Minute))
	if v, err := r.Do("GET", "k"); err != nil || v != nil {
		t.Fatalf("a key of ten minutes, eleven minutes later: %v, %v", v, err)
	}
}

func TestClockFrozen(t *testing.T) {
	r := startWithClock(t)
	check(t, r.SetClock(time.Hour))
	_, err := r.Do("SET", "k", "v", "PX", 600_000)
	check(t, err)
	check(t, r.FreezeClock())
	wantOffset(t, r, time.Hour)
	reads, left := lookAt(t, r).reads, pttl(t, r, "k")
	time.Sleep(50 * time.Millisecond)
	if now := lookAt(t, r).reads; now != reads || pttl(t, r, "k") != left {
		t.Fatalf("%v, and then %v", reads, now)
	}
	check(t, r.Restart())
	if now := lookAt(t, r).reads; now != reads {
		t.Fatalf("%v, and after a restart %v", reads, now)
	}
	check(t, r.RunClock(1)) // goes on from there
	wantRate(t, look{realTime(), reads, realTime()}, lookAt(t, r), 1)
}

func TestClockRate(t *testing.T) {
	r := startWithClock(t)
	check(t, r.SetClock(time.Hour))
	_, err := r.Do("SET", "k", "v", "PX", 600_000)
	check(t, err)
	last := 1.0
	for _, rate := range []float64{1.02, 0.98, 50, 0.5, 1} {
		before := lookAt(t, r)
		check(t, r.RunClock(rate))
		first := lookAt(t, r)
		wantRates(t, before, first, min(last, rate), max(last, rate))
		last = rate
		time.Sleep(200 * time.Millisecond)
		wantRate(t, first, lookAt(t, r), rate)
	}
	// 200 ms at fifty times the speed: ten seconds at least were taken off, and that they went is not forgotten.
	wantPTTL(t, r, 0, 10*time.Minute-10*time.Second)
	check(t, r.SetClock(-time.Hour))
	wantOffset(t, r, -time.Hour)
	for _, rate := range []float64{0, -1, 0.001, 1000, math.NaN(), math.Inf(1)} {
		if r.RunClock(rate) == nil {
			t.Fatalf("a rate of %v", rate)
		}
	}
}

// A clock is not part of what a server forgets. It may be set while the server is down or paused.
func TestClockOutlivesTheServer(t *testing.T) {
	r := startWithClock(t)
	check(t, r.SetClock(time.Hour))
	check(t, r.Restart())
	wantOffset(t, r, time.Hour)
	check(t, r.RunClock(1.02))
	before := lookAt(t, r)
	check(t, r.Restart())
	wantRate(t, before, lookAt(t, r), 1.02)
	check(t, r.Kill())
	check(t, r.SetClock(-time.Hour))
	check(t, r.Restart())
	wantOffset(t, r, -time.Hour)
	check(t, r.Remove())
	check(t, r.Restart())
	wantOffset(t, r, -time.Hour)
	check(t, r.Pause())
	check(t, r.SetClock(2*time.Hour))
	check(t, r.Resume())
	wantOffset(t, r, 2*time.Hour)
}

// An expiry is a point in time: a machine whose clock was put forward while it was down comes back without its keys, and
// one whose clock was put back keeps them for longer.
func TestClockAndPersistence(t *testing.T) {
	r := startWithClock(t, "--appendonly", "yes", "--appendfsync", "always")
	_, err := r.Do("SET", "k", "v", "PX", 600_000)
	check(t, err)
	check(t, r.Kill())
	check(t, r.SetClock(-time.Hour))
	check(t, r.Restart())
	wantPTTL(t, r, 69*time.Minute, 70*time.Minute)
	check(t, r.Kill())
	check(t, r.SetClock(11*time.Minute))
	check(t, r.Restart())
	if v, err := r.Do("GET", "k"); err != nil || v != nil {
		t.Fatalf("%v, %v", v, err)
	}
}

// What the file says, by an example that can be checked by hand.
func TestClockLine(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 12, 0, 0, 500_000_000, time.UTC)
	c := &clock{file: filepath.Join(t.TempDir(), clockFile), started: t0, at: t0.Add(10 * time.Second)}
	for _, step := range []struct {
		reads time.Duration // from t0
		rate  float64
		want  string
	}{
		{10 * time.Second, 1, "+0.000000 x1\n"},
		{40 * time.Second, 1, "+30.000000 x1\n"},
		{-20 * time.Second, 1, "-30.000000 x1\n"},
		{10 * time.Second, 1.02, "-0.200000 x1.02\n"},
		{10 * time.Second, 0, "2026-11-21 12:00:10.500000 x1\n"},
	} {
		check(t, c.set(c.at, t0.Add(step.reads), step.rate))
		got, err := os.ReadFile(c.file)
		if check(t, err); string(got) != step.want {
			t.Fatalf("reads %v, rate %v: %q, want %q", step.reads, step.rate, got, step.want)
		}
	}
}

func TestClockLeavesNothingBehind(t *testing.T) {
	r := startWithClock(t)
	own := strconv.Itoa(r.Pid())
	for _, state := range []string{"running", "killed"} {
		left, err := filepath.Glob("/dev/shm/*faketime_*")
		check(t, err)
		for _, name := range left {
			if strings.HasSuffix(name, "_"+own) {
				t.Errorf("while %s: %s", state, name)
			}
		}
		check(t, r.Kill())
	}
}

func TestNoClock(t *testing.T) {
	r := start(t)
	for i, err := range []error{r.SetClock(0), r.FreezeClock(), r.RunClock(1)} {
		if !errors.Is(err, errNoClock) {
			t.Errorf("method %d: %v", i, err)
		}
	}
}
