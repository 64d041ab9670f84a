// REDLOCK: what is told of the nodes, and the operator's word about one.
package proxy

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"redlockd/commands"
	"redlockd/quorum"
)

// redlock answers REDLOCK and its subcommands: it returns what writes the reply. ADMIT is carried out before that, and behind the replies
// to what stands before it: however long it takes, no grant is told late for it.
func (c *session) redlock(cmd *commands.Command) func(*reply) {
	switch cmd.Sub {
	case "nodes":
		return c.nodes
	case "admit":
		c.beforeLong()
		return c.admit(string(cmd.Args[2]))
	default:
		name := cmd.Name
		return func(*reply) { c.help(name) }
	}
}

func failed(err error) func(*reply) {
	return func(r *reply) { r.error(err.Error()) }
}

// admit is logged, since it is the one command that can cost a lock (P10).
func (c *session) admit(node string) func(*reply) {
	if err := c.server.Fleet.Admit(node); err != nil {
		return failed(commands.Error("ERR " + commands.OneLine(err.Error())))
	}
	c.server.Log.Warn("node admitted by an operator", "node", node, "client", c.conn.RemoteAddr())
	return func(r *reply) { r.status("OK") }
}

func (c *session) nodes(r *reply) {
	states := c.server.Fleet.States()
	now := c.server.Fleet.Now() // behind the snapshots: no age is negative
	r.array(len(states))
	for _, n := range states {
		facts := factsOf(n, now)
		r.header(len(facts))
		for _, f := range facts {
			r.text(f.name)
			switch v := f.value.(type) {
			case string:
				r.text(v)
			case int64:
				r.int(v)
			default:
				panic(fmt.Sprintf("proxy: fact %s is a %T", f.name, v))
			}
		}
	}
}

// fact is one thing that is known of a node. Names, order and types are kept: scripts rely on them.
type fact struct {
	name  string
	value any // string or int64, in RESP2 as in RESP3
}

func factsOf(n quorum.NodeState, now time.Duration) []fact {
	age := func(since time.Duration) int64 { return (now - since).Milliseconds() }
	vouched, errorAge := "no", int64(-1)
	if n.Vouched {
		vouched = "yes"
	}
	if n.Why != "" {
		errorAge = age(n.WhyAt)
	}
	return []fact{
		{"address", plain(n.Name)},
		{"run_id", plain(n.RunID)},
		{"role", plain(n.Role)},
		{"version", plain(n.Version)},
		{"health", n.Health.String()},
		{"health_since_ms", age(n.Since)},
		{"vouched", vouched},
		{"vouched_since_ms", age(n.VouchedSince)},
		{"vouched_why", plain(n.VouchedWhy)},
		{"teaching", plain(n.Teaching)},
		{"clock_offset_ms", n.ClockOffset.Milliseconds()},
		{"clock_drift_ppm", wholePPM(n.ClockDrift)},
		{"latency_us", n.Latency.Microseconds()},
		{"queued", int64(n.Queued)},
		{"owed", int64(n.Owed)},
		{"owed_dropped", int64(n.Dropped)},
		{"last_error", plain(n.Why)},
		{"last_error_ms_ago", errorAge},
	}
}

// maxFact bounds a text about a node, in bytes: a node chooses the text of its errors.
const maxFact = 512

// plain is one line without control characters, which could forge a line of INFO or steer a terminal, and valid UTF-8,
// without which some clients can not read the reply.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r // what is no rune comes, and goes, as utf8.RuneError
	}, s[:min(len(s), maxFact)])
}

// maxPPM is a clock that runs a thousand times too fast. A node may say anything: not every float fits an integer.
const maxPPM = 1e9

func wholePPM(drift float64) int64 {
	if math.IsNaN(drift) {
		return 0
	}
	return int64(math.Round(max(-maxPPM, min(drift, maxPPM))))
}
