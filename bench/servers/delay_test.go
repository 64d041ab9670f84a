package servers

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"redlockd/bench/resp"
)

// The delay is of the answers, also on a connection that was there before, and nothing is lost or out of order.
func TestDelay(t *testing.T) {
	f := forward(t, named(t, "slow").Addr)
	k := keep(t, f.Addr())
	const late = 30 * time.Millisecond
	f.Delay(late)
	began := time.Now()
	if reply, err := k.ask("GET", "name"); err != nil || reply.Text != "slow" {
		t.Fatal(reply, err)
	}
	if took := time.Since(began); took < late {
		t.Errorf("answered within %v", took)
	}
	for i := range 100 {
		_, err := fmt.Fprintf(k, "ECHO %d\r\n", i)
		check(t, err)
	}
	for i := range 100 {
		reply, err := resp.Read(k.in)
		if err != nil || reply.Text != strconv.Itoa(i) {
			t.Fatalf("%d: %v, %v", i, reply, err)
		}
	}
	f.Cut()
	k.wantCut(t)
}
