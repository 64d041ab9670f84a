// Command bench measures redlockd in one run on one machine, beside what it stands in front of: one Redis directly, and
// the floor of any client-side fan-out. It starts every server itself and cleans up after itself.
//
//	go run ./bench                          the usual rows, about five minutes: what the goals and the pictures need
//	go run ./bench peers                    the same beside other lock libraries and proxies (bench/peers, a module of its own)
//	go run ./bench --rows 'take/c50'        some of all rows, and those they are compared with; --list shows which
//	go run ./bench --all                    every row: all fleets, numbers of clients, pipelines and faults
//	go run ./bench --plots bench/plots      also the pictures that the README shows
//	go run ./bench --quick                  a smoke test; its figures mean nothing
//	go run ./bench sim --for 10m            no measurement: the simulator, over many seeds
//
// Out come a table on the screen with ratios, and whether our goals are met; with --json everything as JSON.
//
// bench knows only the wire: it imports nothing of redlockd but its own subpackages, and the simulator, to start it.
//
//	measure  the engine: the command line, the servers of a row and what breaks them, what it cost; Peer is how others join in
//	rows     what is measured, and what is compared with what
//	load     clients in a closed and in an open loop, and the histogram
//	servers  starts and stops redis-server and redlockd
//	report   table, goals, JSON, and the data of the pictures
//	plot     pictures as SVG
//	resp     the little of the protocol that these need
//	peers    what redlockd is measured beside
//	clients  real lock libraries against redlockd: whether they work, not how fast
//	real     tests over real processes
package main

import (
	"os"

	"redlockd/bench/measure"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(simulate(os.Args[2:], os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "peers" {
		os.Exit(peers(os.Args[2:]))
	}
	os.Exit(measure.Command{Name: "go run ./bench"}.Main())
}
