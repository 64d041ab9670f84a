package main

// What is answered, and when, in virtual time.

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A batch starts all its rounds before it waits for the first, and is answered in order.
func TestPipelineIsOneWait(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(5 * ms)
		}
		var batch strings.Builder
		const many = 4
		for i := range many {
			fmt.Fprintf(&batch, "SET k%d t NX PX 60000\r\n", i)
		}
		batch.WriteString("GET k0\r\nPING\r\n")
		began := time.Now()
		if _, err := c.conn.Write([]byte(batch.String())); err != nil {
			w.Fatal(err)
		}
		for range many {
			if got := c.receive(); got != "+OK" {
				w.Fatal(got)
			}
		}
		if got := c.receive(); got != "t" {
			w.Fatal(got)
		}
		if got := c.receive(); got != "+PONG" {
			w.Fatal(got)
		}
		// The simulated node answers one command after the other, 5 ms each.
		if spent := time.Since(began); spent != (many+1)*5*ms {
			w.Fatalf("took %v", spent)
		}
	})
}

// A grant that could not be delivered is undone.
func TestUndeliveredGrantIsUndone(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		for _, n := range w.nodes {
			n.Slow(20 * ms)
		}
		c.send("SET k t NX PX 60000")
		time.Sleep(10 * ms)
		w.wantHolders("k", "t", 5) // accepted, and the answers on their way
		c.conn.Close()
		time.Sleep(100 * ms)
		w.wantHolders("k", "t", 0)
	})
}

// Reads, counts and plain writes are what a majority says.
func TestTableOfAnswers(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.want("GET k", "nil", 0)
		c.want("TTL k", ":-2", 0)
		c.want("PTTL k", ":-2", 0)
		c.want("DEL k", ":0", 0)
		c.want("EXISTS k", ":0", 0)
		c.want("PEXPIRE k 1000", ":0", 0)
		c.want("SET k v XX PX 1000", "nil", 0)
		c.want("SET k v PX 1000", "+OK", 0)
		c.want("SET k w XX PX 1000", "+OK", 0)
		c.want("GET k", "w", 0)
		c.want("EXISTS k k nope", ":2", 0)
		c.want("PEXPIRE k 5000", ":1", 0)
		c.want("PTTL k", ":5000", 0)
		c.want("EXPIRE k 7", ":1", 0)
		c.want("TTL k", ":7", 0)
		c.want("DBSIZE", ":1", 0) // the nodes' marks are counted, too
		c.want("UNLINK k nope", ":1", 0)
		c.want("EXISTS k", ":0", 0)
		for _, n := range w.nodes[:2] {
			n.Put("minority", "v", time.Minute)
		}
		c.want("GET minority", "nil", 0)
		c.want("EXISTS minority", ":0", 0)
		c.want("TTL minority", ":-2", 0)
		for _, n := range w.nodes[:3] {
			n.Kill()
		}
		for _, command := range []string{"GET k", "TTL k", "DEL k", "EXISTS k", "PEXPIRE k 1000", "SET k v", "EVAL " + release + " 1 k t"} {
			c.want(command, "-NOQUORUM …3 unknown…", 0)
		}
	})
}

// A lock that expires at an instant.
func TestAbsoluteExpiry(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		at := time.Now().Add(10 * time.Second)
		c.want(fmt.Sprintf("SET k t PXAT %d NX", at.UnixMilli()), "+OK", 0)
		c.want("PTTL k", ":10000", 0)
		c.want(fmt.Sprintf("SET k2 t exat %d nx", at.Unix()), "+OK", 0)
		c.want(fmt.Sprintf("SET k3 t NX PXAT %d", time.Now().UnixMilli()), "-ERR invalid expire time, in the past by the clock of redlockd", 0)
		w.wantHolders("k3", "t", 0)
	})
}

// Without padding the classic algorithm is left: the client has less than its ttl, and is told so.
func TestPadTTLFalse(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd("--pad-ttl=false"))
		c.want("SET k t NX PX 10000", "+OK", 0)
		synctest.Wait()
		if left := w.nodes[0].Left("k"); left != 10*time.Second {
			w.Fatal(left)
		}
		c.want("PTTL k", ":9899", 0)
		c.want("SET k2 t NX PX 2", "-NOQUORUM …too late…", 0) // all of it is drift
	})
}
