// Package report turns measurements into what people read: ratios first, because a rate means something only beside
// another rate of the same run on the same machine. It renders; it measures nothing.
package report

import (
	"encoding/json"
	"io"
	"time"

	"redlockd/bench/rows"
)

// Machine is where a run took place, and with what.
type Machine struct {
	Cores    int    `json:"cores"`
	CPU      string `json:"cpu"`
	System   string `json:"system"`
	Load     string `json:"load_before"` // load averages before the run: anything but about 0 means that somebody else worked
	Go       string `json:"go"`
	Redis    string `json:"redis"`
	Redlockd string `json:"redlockd,omitempty"`
}

// Peer is what redlockd is measured beside, measured or left out.
type Peer struct {
	Target  string `json:"target"`
	Label   string `json:"label,omitempty"` // what the table calls it
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"` // why it is left out, and how to get it; empty: it is not
}

// CPU is what one operation cost whom, in microseconds of CPU time, the kernel's part included.
type CPU struct {
	Generator float64 `json:"generator"`
	Proxy     float64 `json:"proxy"`
	Nodes     float64 `json:"nodes"` // all together
}

// Ratios compare a row with others of the same run. 0: there is nothing to compare with.
type Ratios struct {
	OfDirect     float64 `json:"of_direct,omitempty"`      // rate over the rate without a proxy
	P50OfDirect  float64 `json:"p50_of_direct,omitempty"`  // median latency over that without a proxy
	OfFloor      float64 `json:"of_floor,omitempty"`       // rate over that of one redis-benchmark per node
	OfHealthy    float64 `json:"of_healthy,omitempty"`     // rate over that of the same row with nothing broken
	P99OfHealthy float64 `json:"p99_of_healthy,omitempty"` // 99th percentile over that of the same row with nothing broken
	Redlockd     float64 `json:"redlockd,omitempty"`       // of a peer's row: rate of redlockd, over as many nodes, over this rate
	OfGranted    float64 `json:"of_granted,omitempty"`     // rate of refused takes over that of granted ones
}

// Line is one row and what came out. Latencies are of a whole batch: with a pipeline of 16, of sixteen operations.
type Line struct {
	Row        rows.Row `json:"-"`
	Name       string   `json:"name"`
	Target     string   `json:"target"`
	Nodes      int      `json:"nodes"`
	Work       string   `json:"work"`
	Clients    int      `json:"clients"`
	Pipeline   int      `json:"pipeline"`
	Fault      string   `json:"fault,omitempty"`
	Generator  string   `json:"generator"`
	Open       int      `json:"open_percent,omitempty"` // of the closed loop's rate
	Wanted     float64  `json:"wanted,omitempty"`       // the fixed rate of an open loop
	Late       float64  `json:"late_share,omitempty"`   // of an open loop's operations: sent more than a moment after their time
	Never      uint64   `json:"never_sent,omitempty"`   // of an open loop's operations: not sent when the row ended
	Seconds    float64  `json:"seconds"`
	Ops        uint64   `json:"ops"`
	PerSecond  float64  `json:"per_second"`
	Granted    uint64   `json:"granted,omitempty"` // of the operations of a contended row
	Refused    uint64   `json:"refused,omitempty"`
	ClientKiB  float64  `json:"client_kib,omitempty"` // resident memory of redlockd for each idle client
	P50        float64  `json:"p50_ms"`
	P99        float64  `json:"p99_ms"`
	P999       float64  `json:"p999_ms,omitempty"` // redis-benchmark does not tell
	Max        float64  `json:"max_ms"`
	CPU        CPU      `json:"cpu_us_per_op"`
	Others     float64  `json:"others_share"`     // of the machine's CPU time, used by nobody of this run
	Stall      float64  `json:"stall_ms"`         // the longest that the machine stood still
	Remark     string   `json:"remark,omitempty"` // what else is to be known
	Errors     uint64   `json:"errors"`
	FirstError string   `json:"first_error,omitempty"`
	Ratios
}

// NewLine fills in what the row itself says.
func NewLine(r rows.Row) Line {
	return Line{
		Row: r, Name: r.Name(), Target: string(r.Target), Nodes: r.Nodes, Work: string(r.Work),
		Clients: r.Clients, Pipeline: r.Pipeline, Fault: string(r.Fault), Generator: string(r.Generator), Open: r.Open,
	}
}

// Report is one run.
type Report struct {
	Command     string    `json:"command"`
	Started     time.Time `json:"started"`
	Machine     Machine   `json:"machine"`
	Seconds     float64   `json:"seconds_per_row"`
	Interrupted bool      `json:"interrupted,omitempty"` // then rows are missing
	Peers       []Peer    `json:"peers,omitempty"`
	Lines       []Line    `json:"rows"`
	Goals       []Goal    `json:"goals"`
}

// Add appends a line. Its ratios come with Compare, since what it is compared with may be measured later.
func (r *Report) Add(l Line) { r.Lines = append(r.Lines, l) }

// Compare computes every ratio anew, and the goals.
func (r *Report) Compare() {
	byRow := map[rows.Row]Line{}
	for _, l := range r.Lines {
		byRow[l.Row] = l
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		l.Ratios = Ratios{}
		if row, ok := l.Row.DirectRow(); ok {
			d := byRow[row]
			l.OfDirect, l.P50OfDirect = ratio(l.PerSecond, d.PerSecond), ratio(l.P50, d.P50)
		}
		if row, ok := l.Row.FloorRow(); ok {
			l.OfFloor = ratio(l.PerSecond, byRow[row].PerSecond)
		}
		if row, ok := l.Row.GrantedRow(); ok {
			l.OfGranted = ratio(l.PerSecond, byRow[row].PerSecond)
		}
		if row, ok := l.Row.RedlockdRow(); ok {
			l.Redlockd = ratio(byRow[row].PerSecond, l.PerSecond)
		}
		if row, ok := l.Row.HealthyRow(); ok {
			h := byRow[row]
			l.OfHealthy, l.P99OfHealthy = ratio(l.PerSecond, h.PerSecond), ratio(l.P99, h.P99)
		}
	}
	r.Goals = r.goals()
}

// ratio is 0 where there is nothing to divide by: a row that was not measured has the rate 0.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// Errors is the sum over all rows.
func (r *Report) Errors() uint64 {
	var n uint64
	for _, l := range r.Lines {
		n += l.Errors
	}
	return n
}

// JSON writes everything that the table shows, and more.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
