// Package real tests redlockd as a process, over real redis-server processes and with real clients. Like the rest of bench
// it knows only the wire; there is nothing in it but tests.
//
//	real_test.go     the rig: a fleet and a redlockd over it; the plain cases
//	asredis_test.go  the same lines to a Redis and to redlockd: the same answers
//	newer_test.go    what Redis learned later, over nodes that have not
//	faults_test.go   nodes killed and stopped, two redlockd, clients that hang up, SIGTERM
//	check_test.go    redlockd --check, and the rights on the nodes
//	scene_test.go    the rig for nodes that forget: who holds what, who polls
//	forget_test.go   every way to forget (R21)
//	midway_test.go   trouble while a node is taught
//	storm_test.go    restarts under load
//	clocks_test.go   clocks that jump or run wrong (R24), a redlockd that stands still
//	history_test.go  the check that no two holders overlap
package real
