package measure

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/rows"
)

// progress is one line per row on stderr: what is being measured, then what came out.
type progress struct {
	w       io.Writer
	total   int
	started time.Time
}

func (p progress) begin(i int, r rows.Row) {
	fmt.Fprintf(p.w, "[%*d/%d] %-42s ", len(strconv.Itoa(p.total)), i+1, p.total, r.Name())
}

func (p progress) end(i int, l report.Line) {
	left := time.Since(p.started) / time.Duration(i+1) * time.Duration(p.total-i-1)
	came := fmt.Sprintf("%11s/s  p99 %8.3f ms", report.Thousands(l.PerSecond), l.P99)
	if l.Row.Work == load.Idle {
		came = fmt.Sprintf("%9.1f KiB a client      ", l.ClientKiB)
	}
	fmt.Fprintf(p.w, "%s  errors %d   (%d s left)\n", came, l.Errors, int(left.Seconds()))
}
