package main

// Pipelines: what stands behind a command does not change what it is about.

import "testing"

// batch sends commands in one piece.
func (c *client) batch(commands ...string) {
	c.Helper()
	var all []byte
	for _, command := range commands {
		all = append(all, wire(command)...)
	}
	if _, err := c.conn.Write(all); err != nil {
		c.Fatal(err)
	}
}

// wants replies, in this order.
func (c *client) wants(replies ...string) {
	c.Helper()
	for i, want := range replies {
		if got := c.receive(); !like(got, want) {
			c.Fatalf("reply %d: %s, want %s", i, got, want)
		}
	}
}

// A SELECT that is pipelined behind a command leaves the second round of that command in the database of the first: the look at who denied
// a take, and the extend that a look at the remaining time decides about.
func TestSelectBehindASecondRound(t *testing.T) {
	const extendInTime = "if\tredis.call('get',KEYS[1])==ARGV[1]and\tredis.call('pttl',KEYS[1])>500\tthen\treturn\tredis.call('pexpire',KEYS[1],ARGV[2])else\treturn\t0\tend"
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.talk("SET k zero NX PX 60000", "+OK", "", "SELECT 3", "+OK", "", "SET k three NX PX 60000", "+OK", "", "SELECT 0", "+OK")
		c.batch("SET k other NX GET PX 60000", "SELECT 3")
		c.wants("zero", "+OK")
		c.batch("SELECT 0", "SET m t PX 1000", "EVAL "+extendInTime+" 1 m t 90000", "SELECT 3")
		c.wants("+OK", "+OK", ":1", "+OK")
		c.batch("SET m t PX 1000", "SELECT 0", "PTTL m")
		c.wants("+OK", "+OK", ":90000")
	})
}

// An EXEC that is refused ends the transaction, and what a WATCH in front of it is still reading is not watched by the next one.
func TestRefusedExecForgetsWhatIsBeingRead(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		c.batch("SET k t PX 60000", "WATCH k", "MULTI", "EXEC x")
		c.wants("+OK", "+OK", "+OK", "-EXECABORT …")
		c.talk("DEL k", ":1", "", "MULTI", "+OK", "", "EXEC", "*0")
	})
}
