// Command bench measures redlockd in one run on one machine, beside what it stands in front of: one Redis directly, and
// the floor of any client-side fan-out. It starts every server itself and cleans up after itself.
//
//	go run ./bench                          everything, about two minutes
//	go run ./bench peers                    the same beside other lock libraries and proxies (bench/peers, a module of its own)
//	go run ./bench --rows 'take/c50'        some rows, and those they are compared with
//	go run ./bench --quick                  a smoke test; its figures mean nothing
//
// bench knows only the wire: it imports nothing of redlockd but its own subpackages.
//
//	measure  the engine: the command line, the servers of a row, what it cost
//	rows     what is measured, and what is compared with what
//	load     clients in a closed loop, and the histogram
//	servers  starts and stops redis-server and redlockd
//	report   table and JSON
//	resp     the little of the protocol that these need
//	peers    what redlockd is measured beside
package main

import (
	"os"

	"redlockd/bench/measure"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "peers" {
		os.Exit(peers(os.Args[2:]))
	}
	os.Exit(measure.Command{Name: "go run ./bench"}.Main())
}
