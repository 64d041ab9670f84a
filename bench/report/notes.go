package report

import (
	"fmt"
	"strings"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

var workNames = map[load.Work]string{
	load.Ping:      "PING",
	load.Take:      "take",
	load.Cycle:     "take + release (EVALSHA)",
	load.CycleEval: "take + release (EVAL)",
	load.Refused:   "take, refused",
	load.Contended: "contended: all take one key, who gets it releases it",
	load.Get:       "GET of a held lock",
	load.PTTL:      "PTTL of a held lock",
	load.Idle:      "idle clients, each of which has taken a lock",
}

var faultNames = map[rows.Fault]string{
	rows.Stopped:    ", one stopped",
	rows.Slow:       ", one slow",
	rows.Dead:       ", one dead",
	rows.Restarting: ", one restarting",
	rows.Taught:     ", one taught",
	rows.Unwatched:  ", unwatched",
}

// label names a row within its block.
func (r *Report) label(row rows.Row) string {
	var s string
	switch row.Target {
	case rows.Direct:
		s = "one Redis, directly"
	case rows.Floor:
		return fmt.Sprintf("%d redis-benchmark, one a node", row.Nodes)
	default:
		s = r.TargetName(row.Target)
		if row.Nodes > 0 {
			s = fmt.Sprintf("%s N=%d", s, row.Nodes)
		}
	}
	s += faultNames[row.Fault]
	if row.Generator == rows.RedisBenchmark {
		s += ", redis-benchmark"
	}
	return s
}

// TargetName is what people read for a target.
func (r *Report) TargetName(target rows.Target) string {
	for _, p := range r.Peers {
		if p.Target == string(target) && p.Label != "" {
			return p.Label
		}
	}
	return string(target)
}

func blockTitle(row rows.Row) string {
	clients := fmt.Sprintf("%d clients", row.Clients)
	if row.Clients == 1 {
		clients = "1 client"
	}
	return fmt.Sprintf("%s, %s, pipeline %d", workNames[row.Work], clients, row.Pipeline)
}

// Above these a row was not measured on a quiet machine. Some share is always others': kernel threads, the reading of /proc.
const (
	noisyOthers = 0.15
	noisyStall  = 100 // ms
)

// Above this share of operations sent late, an open loop was behind its schedule: its rate was not the fixed one.
const behindLate = 0.01

// noisy says what disturbed a row; empty if nothing did.
func (l Line) noisy() string {
	var parts []string
	if l.Others > noisyOthers {
		parts = append(parts, fmt.Sprintf("others %.0f %%", 100*l.Others))
	}
	if l.Stall > noisyStall {
		parts = append(parts, fmt.Sprintf("stall %.0f ms", l.Stall))
	}
	return strings.Join(parts, ", ")
}

// behind says how an open loop did not keep its schedule; empty if it did.
func (l Line) behind() string {
	s := ""
	if l.Late > behindLate {
		s = fmt.Sprintf("BEHIND SCHEDULE: %.0f %% sent late", 100*l.Late)
	}
	if l.Never > 0 {
		s += fmt.Sprintf(", %s never sent", Thousands(float64(l.Never)))
	}
	return strings.TrimPrefix(s, ", ")
}

// notes is what else there is to say of a row.
func (l Line) notes() string {
	var parts []string
	if l.Granted+l.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%s granted, %s refused", Thousands(float64(l.Granted)), Thousands(float64(l.Refused))))
	}
	if l.PerSecond == 0 && l.Row.Work != load.Idle {
		parts = append(parts, "NOTHING ANSWERED within the time of the row")
	}
	if l.Remark != "" {
		parts = append(parts, l.Remark)
	}
	if s := l.behind(); s != "" {
		parts = append(parts, s)
	}
	if s := l.noisy(); s != "" {
		parts = append(parts, "disturbed: "+s)
	}
	return strings.Join(parts, "; ")
}
