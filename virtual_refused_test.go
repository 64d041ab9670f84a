package main

// Commands whose second round is refused before it is asked: no room for rounds is lost to them.

import "testing"

// A look at the remaining time decides for an extend that is longer than this redlockd allows. Two of them in a pipeline take
// no room with them: the next command has it.
func TestRefusedSecondRoundsGiveRoomBack(t *testing.T) {
	const extendInTime = "if\tredis.call('get',KEYS[1])==ARGV[1]and\tredis.call('pttl',KEYS[1])>500\tthen\treturn\tredis.call('pexpire',KEYS[1],ARGV[2])else\treturn\t0\tend"
	virtual(t, 3, func(w world) {
		c := w.client(w.redlockd("--rounds-in-flight", "8", "--max-ttl", "10s", "--over-ttl", "refuse"))
		c.talk("SET k t NX PX 5000", "+OK", "")
		tooLong := "EVAL " + extendInTime + " 1 k t 90000"
		for range 8 {
			c.batch(tooLong, tooLong, "GET k")
			c.wants("-ERR a lock must expire within …", "-ERR a lock must expire within …", "t")
		}
	})
}
