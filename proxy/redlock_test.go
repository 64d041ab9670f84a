package proxy

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"redlockd/commands"
	"redlockd/quorum"
)

// told is a node of which something is known, and which may refuse to be admitted.
type told struct {
	always
	state   quorum.NodeState
	refusal error
}

func (n told) Name() string            { return n.state.Name }
func (n told) State() quorum.NodeState { return n.state }
func (n told) Admit() error            { return n.refusal }

// operated are nodes for REDLOCK: one that is well, one of which nothing is known, and one that says what it should not.
func operated(a always) []quorum.Node {
	return []quorum.Node{
		told{always: a, state: quorum.NodeState{
			Name: "10.0.0.1:6379", Health: quorum.Up, Since: time.Hour - 5*time.Second, Why: "no answer within 50ms", WhyAt: time.Hour - 7*time.Millisecond,
			Queued: 1, Owed: 2, Dropped: 3, Version: "7.2.0", RunID: "7d1a", Role: "master",
			Vouched: true, VouchedSince: time.Hour - 4*time.Second, VouchedWhy: "taught by 2 nodes",
			ClockOffset: -1500 * time.Millisecond, ClockDrift: -12.5, Latency: 250 * time.Microsecond,
		}},
		told{always: a, state: quorum.NodeState{Name: "10.0.0.2:6379"}, refusal: errors.New("it is vouched for:\r\n+OK")},
		told{always: a, state: quorum.NodeState{
			Name: "/run/a,b.sock", Health: quorum.Silent, Role: "slave\r\nnode9:address=forged", Version: "7,vouched=yes\x00\x1b[2J",
			RunID: "\xff\xfe", Why: "ERR \r\n$-1\r\n, \u0085\u00e4", VouchedWhy: "restarted\n", Teaching: "waiting\t12ms",
			Dropped: math.MaxInt64, ClockOffset: math.MaxInt64, ClockDrift: math.Inf(1), Latency: math.MaxInt64,
		}},
	}
}

// unasked is a node that must not be asked.
type unasked struct {
	always
	t *testing.T
}

func (n unasked) Send(req *quorum.Request, _ time.Duration, v quorum.Voter, i int) {
	n.t.Errorf("asked to %v %q %q", req.Op, req.Key, req.Keys)
	v.Hear(i, quorum.Answer{Vote: quorum.Yes})
}

// ADMIT reaches the node that is named, once, and the log says who asked; a refusal is not logged as done.
func TestAdmitIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := newTestServer(operated(always{})...)
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	got := conversation(t, s, []string{"REDLOCK ADMIT 10.0.0.1:6379", "REDLOCK ADMIT 10.0.0.2:6379", "REDLOCK ADMIT nobody"})
	if strings.Count(got, "< +OK") != 1 || strings.Count(got, "< -ERR ") != 2 {
		t.Fatal(got)
	}
	want := `level=WARN msg="node admitted by an operator" node=10.0.0.1:6379 client=pipe`
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), want) {
		t.Fatalf("%s, want %s", log.String(), want)
	}
}

// A transaction is one change of one key: ADMIT is none, and not carried out.
func TestAdmitIsNotCarriedOutInATransaction(t *testing.T) {
	var log bytes.Buffer
	s := newTestServer(operated(always{})...)
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	got := conversation(t, s, []string{"MULTI ; REDLOCK ADMIT 10.0.0.1:6379 ; EXEC"})
	if !strings.Contains(got, "-EXECABORT") || log.Len() > 0 {
		t.Fatal(got, log.String())
	}
}

// What a node says of itself neither breaks a line nor grows without bound.
func TestPlain(t *testing.T) {
	for _, s := range []string{"", "7.2.0", "a\r\nb", "\x00\x7f\x1b\u009b", "\xff", strings.Repeat("ä", maxFact), strings.Repeat("\xff", maxFact+1)} {
		got := plain(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("%q became %q", s, got)
		}
	}
	for n, want := range map[int]int{maxFact: maxFact, maxFact + 1: maxFact} {
		if got := plain(strings.Repeat("x", n)); len(got) != want {
			t.Errorf("%d bytes became %d", n, len(got))
		}
	}
}

func TestWholePPM(t *testing.T) {
	for drift, want := range map[float64]int64{0: 0, 0.4: 0, 12.5: 13, -12.5: -13, 2 * maxPPM: maxPPM, math.Inf(-1): -maxPPM} {
		if got := wholePPM(drift); got != want {
			t.Errorf("%v became %d", drift, got)
		}
	}
	if got := wholePPM(math.NaN()); got != 0 {
		t.Errorf("NaN became %d", got)
	}
}

// No lock command whatever gets through with a reserved key, first or last, or with the blocker for a token. DBSIZE has neither.
func TestEveryVerbRefusesWhatIsReserved(t *testing.T) {
	rules := LockRules{MaxTTL: time.Hour, MaxKey: 1000, MaxToken: 1000}
	long := quorum.Reserved + strings.Repeat("x", 900) + "\r\n"
	for verb := commands.Take; verb < commands.DBSize; verb++ {
		if !verb.OfLocks() {
			continue
		}
		expiry := commands.Expiry{Kind: commands.FromNow, MS: 1000}
		for _, key := range []string{quorum.Reserved, quorum.MarkKey, quorum.TeacherKey, quorum.ProbeKey, quorum.Blocker, long} {
			for _, c := range []commands.Command{
				{Verb: verb, Key: []byte(key), Expiry: expiry},
				{Verb: verb, Keys: [][]byte{[]byte(key)}, Expiry: expiry},
				{Verb: verb, Keys: [][]byte{[]byte("a"), []byte(key)}, Expiry: expiry},
			} {
				_, err := rules.request(new(quorum.Request), &c, time.Now())
				if err == nil || !strings.HasPrefix(err.Error(), "ERR key '"+quorum.Reserved) || len(err.Error()) > 200 || strings.Contains(err.Error(), "\n") {
					t.Errorf("verb %d, key %.40q: %v", verb, key, err)
				}
			}
		}
		for _, key := range []string{"", "redlockd", "Redlockd:boot", "REDLOCKD:boot", " redlockd:boot", "my:redlockd:boot"} {
			c := commands.Command{Verb: verb, Key: []byte(key), Keys: [][]byte{[]byte(key)}, Token: []byte(quorum.Blocker + "x"), Expiry: expiry}
			if _, err := rules.request(new(quorum.Request), &c, time.Now()); err != nil {
				t.Errorf("verb %d, key %q: %v", verb, key, err)
			}
		}
	}
	for _, verb := range []commands.Verb{commands.Take, commands.Overwrite, commands.Release, commands.Extend} {
		c := commands.Command{Verb: verb, Key: []byte("k"), Token: []byte(quorum.Blocker), Expiry: commands.Expiry{Kind: commands.FromNow, MS: 1000}}
		if _, err := rules.request(new(quorum.Request), &c, time.Now()); err == nil || err.Error() != "ERR value 'redlockd:blocked' is reserved for redlockd" {
			t.Errorf("verb %d: %v", verb, err)
		}
	}
}

// slow is a node that takes longer than the round limit to be admitted.
type slow struct {
	always
	clock *time.Duration
}

func (n slow) Admit() error { *n.clock += 2 * time.Second; return nil }

// A grant in front of a slow ADMIT is told before it; the time of one behind it counts from after it.
func TestNoGrantIsLateForAdmit(t *testing.T) {
	var now time.Duration
	s := newTestServer()
	s.Fleet = quorum.NewFleet([]quorum.Node{slow{always{quorum.Answer{Vote: quorum.Yes}}, &now}},
		quorum.Rules{MaxTTL: time.Hour, RoundLimit: time.Second, InFlight: 10},
		func() time.Duration { return now }, func() float64 { return 0 }, nil)
	got := conversation(t, s, []string{"SET k t NX PX 5000 ; REDLOCK ADMIT node ; SET l t NX PX 5000"})
	if strings.Count(got, "< +OK") != 3 {
		t.Fatal(got)
	}
}
