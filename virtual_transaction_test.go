package main

// Transactions: what was read under WATCH is the compare of one atomic step.

import (
	"testing"
	"testing/synctest"
	"time"
)

// talk sends commands one by one, and wants the replies in the same order; the elements of an array are replies of their own.
func (c *client) talk(conversation ...string) {
	c.Helper()
	for i := 0; i < len(conversation); i++ {
		command := conversation[i]
		c.send(command)
		for i++; i < len(conversation) && conversation[i] != ""; i++ {
			if got := c.receive(); !like(got, conversation[i]) {
				c.Fatalf("%s: %s, want %s", command, got, conversation[i])
			}
		}
	}
}

// locked by watch: what StackExchange.Redis does where it has no DELEX.
func TestR7TransactionReleasesAndExtends(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.talk("SET k t NX PX 1000", "+OK", "",
			"WATCH k", "+OK", "", "GET k", "t", "",
			"MULTI", "+OK", "", "PEXPIRE k 5000", "+QUEUED", "", "EXEC", "*1", ":1", "",
			"PTTL k", ":5000", "",
			"WATCH k", "+OK", "", "GET k", "t", "",
			"MULTI", "+OK", "", "DEL k", "+QUEUED", "", "EXEC", "*1", ":1", "",
			"GET k", "nil")
		w.wantHolders("k", "t", 0)
	})
}

// Between WATCH and EXEC the lock ends, and another takes it, through another redlockd.
func TestR4TransactionDoesNotDeleteTheNextHolders(t *testing.T) {
	for _, change := range []string{"DEL k", "UNLINK k", "PEXPIRE k 9000", "EXPIRE k 9", "SET k mine PX 9000", "SET k mine XX EX 9"} {
		virtual(t, 5, func(w world) {
			a, b := w.client(w.redlockd()), w.client(w.redlockd())
			a.talk("SET k t1 NX PX 1000", "+OK", "", "WATCH k", "+OK", "", "GET k", "t1", "", "MULTI", "+OK", "", change, "+QUEUED")
			time.Sleep(1100 * ms)
			b.want("SET k t2 NX PX 60000", "+OK", 0)
			a.talk("EXEC", "nil array", "", "EXEC", "-ERR EXEC without MULTI")
			w.wantHolders("k", "t2", 5)
			if left := w.nodes[0].Left("k"); left < 60*time.Second {
				t.Fatal(left)
			}
		})
	}
}

// Two watch a free key, and both want to set it.
func TestR1TransactionTakes(t *testing.T) {
	virtual(t, 5, func(w world) {
		a, b := w.client(w.redlockd()), w.client(w.redlockd())
		for _, c := range []*client{a, b} {
			c.talk("WATCH k", "+OK", "", "MULTI", "+OK", "", "SET k "+string(rune('a'))+" PX 1000", "+QUEUED")
		}
		a.talk("EXEC", "*1", "+OK")
		synctest.Wait() // on all nodes: a minority may have heard b first otherwise
		b.talk("EXEC", "nil array")
		w.wantHolders("k", "a", 5)
	})
}

// Every redlockd says that the nodes are down; nothing is carried out.
func TestR13TransactionWithoutQuorum(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		c.talk("SET k t NX PX 60000", "+OK", "", "WATCH k", "+OK", "", "MULTI", "+OK", "", "DEL k", "+QUEUED")
		w.nodes[0].Kill()
		w.nodes[1].Kill()
		c.talk("EXEC", "-NOQUORUM …", "",
			"WATCH k", "-NOQUORUM …", "", "MULTI", "+OK", "", "SET k u PX 1000", "+QUEUED", "", "EXEC", "-NOQUORUM …", "",
			"GET k", "-NOQUORUM …")
	})
}

// A take by EXEC that was not delivered is undone like any other.
func TestUndeliveredTransactionIsUndone(t *testing.T) {
	virtual(t, 5, func(w world) {
		c := w.client(w.redlockd())
		c.talk("WATCH k", "+OK", "", "MULTI", "+OK", "", "SET k t PX 60000", "+QUEUED")
		synctest.Wait() // all of them have answered the WATCH
		for _, n := range w.nodes {
			n.Slow(20 * ms)
		}
		c.send("EXEC")
		time.Sleep(10 * ms)
		w.wantHolders("k", "t", 5)
		c.conn.Close()
		time.Sleep(100 * ms)
		w.wantHolders("k", "t", 0)
	})
}

// What is watched is bounded, what is queued as well.
func TestTransactionLimits(t *testing.T) {
	virtual(t, 1, func(w world) {
		c := w.client(w.redlockd())
		for range 64 {
			c.talk("WATCH k"+string(rune('a')), "+OK")
		}
		for i := range 63 {
			c.talk("WATCH w"+string(rune('0'+i)), "+OK")
		}
		c.talk("WATCH one more", "-ERR more than 64 keys are watched", "", "UNWATCH", "+OK", "", "WATCH one more", "+OK", "", "MULTI", "+OK")
		for range 64 {
			c.talk("PING", "+QUEUED")
		}
		c.talk("PING", "-ERR more than 64 commands in a transaction", "", "EXEC", "-EXECABORT Transaction discarded because of previous errors.", "", "PING", "+PONG")
	})
}

// What a transaction answers of a key that is not there, and what it does with the key of no name.
func TestTransactionOfMissingKeys(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		for command, reply := range map[string]string{"GETEX k PX 100": "nil", "GETDEL k": "nil", "DEL k": ":0", "PEXPIRE k 100": ":0"} {
			c.talk("WATCH k", "+OK", "", "MULTI", "+OK", "", command, "+QUEUED", "", "EXEC", "*1", reply)
		}
		c.talk("MSETEX 3 a t b t  t NX PX 60000", ":1", "", "WATCH ", "+OK", "", "MULTI", "+OK", "", "DEL a b", "+QUEUED", "", "EXEC", "-EXECABORT …",
			"", "EXISTS a b ", ":3", "", "WATCH ", "+OK", "", "MULTI", "+OK", "", "DEL ", "+QUEUED", "", "EXEC", "*1", ":1", "", "EXISTS a b ", ":2", "",
			"EXEC x", "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
	})
}

// Each database is a key space of its own, and a node that forgot is taught all of them.
func TestDatabases(t *testing.T) {
	virtual(t, 5, func(w world) {
		w.guardMarks()
		c, other := w.client(w.redlockd()), w.client(w.redlockd())
		c.talk("SET k zero NX PX 60000", "+OK", "", "SELECT 3", "+OK", "", "GET k", "nil", "",
			"SET k three NX PX 60000", "+OK", "", "TTL k", ":60", "", "EXISTS k", ":1")
		synctest.Wait() // on all nodes
		other.talk("GET k", "zero", "", "SELECT 3", "+OK", "", "SET k four NX PX 60000", "nil", "",
			"EVAL "+release+" 1 k four", ":0", "", "WATCH k", "+OK", "", "SELECT 0", "+OK", "", "MULTI", "+OK", "", "DEL k", "+QUEUED", "",
			"EXEC", "-EXECABORT …another database")
		w.wantHolders("k", "zero", 5)
		w.wantHolders("redlockd:db3:k", "three", 5)

		startAnew(w.nodes[0])
		time.Sleep(5 * time.Second)
		w.wantHolders("redlockd:db3:k", "three", 5)
		w.nodes[1].Kill()
		w.nodes[2].Kill()
		other.talk("SELECT 3", "+OK", "", "SET k four NX PX 60000", "nil", "", "RESET", "+RESET", "", "GET k", "zero")
		c.talk("EVAL "+release+" 1 k three", ":1", "", "SET k five NX PX 1000", "+OK", "", "GET redlockd:db3:k", "-ERR key 'redlockd:db3:k' is reserved for redlockd")
	})
}

// SETNX and EXPIRE in one transaction, as pipelines of redis-py send them, take the lock with that expiry; one that is held is not
// prolonged by whoever tries to take it.
func TestR8TransactionTakesWithAnExpiry(t *testing.T) {
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd())
		c.talk("MULTI", "+OK", "", "SETNX k t", "+QUEUED", "", "EXPIRE k 30", "+QUEUED", "", "EXEC", "*2", ":1", ":1", "", "TTL k", ":30")
		time.Sleep(10 * time.Second)
		c.talk("MULTI", "+OK", "", "SETNX k u", "+QUEUED", "", "EXPIRE k 30", "+QUEUED", "", "EXEC", "*2", ":0", ":0", "", "TTL k", ":20", "", "GET k", "t")
		c.talk("MULTI", "+OK", "", "SET k u NX", "+QUEUED", "", "PEXPIRE k 30000", "+QUEUED", "", "EXEC", "*2", "nil", ":0", "", "GET k", "t")
		time.Sleep(21 * time.Second)
		c.talk("MULTI", "+OK", "", "SET k u NX", "+QUEUED", "", "PEXPIRE k 30000", "+QUEUED", "", "EXEC", "*2", "+OK", ":1", "", "PTTL k", ":30000")
		c.talk("MULTI", "+OK", "", "SETNX k2 u", "+QUEUED", "", "EXPIRE k3 30", "+QUEUED", "", "EXEC", "-EXECABORT …", "", "GET k2", "nil")
	})
}
