package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestSimulate(t *testing.T) {
	for _, c := range []struct {
		args []string
		exit int
		want string // in what it says
	}{
		{[]string{"--for", "200ms", "--workers", "1"}, exitOK, "\nviolations                                      0\n"},
		{[]string{"--for", "0s"}, exitUsage, "--workers and --for must be above zero"},
		{[]string{"all"}, exitUsage, `unexpected argument "all"`},
		{[]string{"--help"}, exitOK, "how long"},
	} {
		var out bytes.Buffer
		if exit := simulate(c.args, &out, &out); exit != c.exit || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: exit %d, want %d, with %q in\n%s", c.args, exit, c.exit, c.want, out.String())
		}
	}
}
