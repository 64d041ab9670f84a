package backend

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

// A redlockd that is cut off from the other nodes waits for teachers (P10). One that is not does not wait for it.
func TestP10WhoCanTeachDoesNotWaitForWhoCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		nodes := []*quorumtest.Node{quorumtest.NewNode(), quorumtest.NewNode(), quorumtest.NewNode()}
		open := func(reached int) []*Pipe {
			var all []Options
			for i, n := range nodes {
				dial := n.Dial
				if i >= reached {
					dial = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
				}
				all = append(all, Options{
					Network: "tcp", Address: "node", Name: "node:" + strconv.Itoa(i+1),
					Patience:    quorum.Patience{Timeout: 50 * ms, Limit: 500 * ms, Silence: time.Second},
					DialTimeout: time.Second, ReconnectMin: 10 * ms, ReconnectMax: 100 * ms, Queue: 100, Owed: 10,
					MaxLife: time.Hour, Tolerance: 500 * ms,
					Dial: dial, Clock: func() time.Duration { return time.Since(started) }, Wall: time.Now, Log: slog.New(slog.DiscardHandler),
				})
			}
			return Open(all...)
		}
		cutOff := open(1)
		nodes[0].Flush()
		time.Sleep(20 * time.Second)
		if s := cutOff[0].State(); s.Vouched || s.Teaching == "" {
			t.Fatalf("%+v", s)
		}
		whole := open(3)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if s := whole[0].State(); !s.Vouched {
			t.Fatalf("%+v", s)
		}
		for _, p := range append(cutOff, whole...) {
			p.Close(t.Context())
		}
		for _, n := range nodes {
			n.Cut()
		}
	})
}
