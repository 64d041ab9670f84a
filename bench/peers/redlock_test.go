package main

import (
	"strings"
	"testing"

	"redlockd/bench/load"
)

// What the program in redlock/ says is added up; what it does not say is not believed.
func TestRedlockReports(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`{"ops":3,"errors":1,"error":"busy","ns":[1000,2000]}` + "\n" + `{"done":true,"hung":2,"last":[{"key":"k","token":"v","got":7}]}`, ""},
		{`{"ops":3}`, "ended before it was done"},
		{`ops: 3`, "a report of redlock: "},
		{strings.Repeat("x", maxReport+1), "token too long"},
	} {
		result, s := load.Result{Latency: new(load.Histogram)}, new(samples)
		err := redlockReports(strings.NewReader(c.lines), &result, load.Take, s)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			continue
		}
		if err != nil || result.Ops != 3 || result.Errors != 3 || result.FirstError != "busy" || result.Latency.Count() != 2 || s.got() != 7 {
			t.Errorf("%+v, %d, %v", result, s.got(), err)
		}
	}
}
