// Package backend owns the nodes' sockets: it implements quorum.Node on redigo.
//
//	fleet.go      all pipes, and what they know of each other; Open
//	pipe.go       one node: the connection in use, what is owed to it
//	dial.go       connecting, and connecting again
//	link.go       one connection: the requests that are on their way, and how long they are waited for
//	linkwrite.go  who writes them, a flight at a time
//	linkread.go   who reads the answers, and what is read behind them
//	wire.go       a request as the commands a node understands, and the reply as an answer
//	resp.go       the bytes of a command
//	words.go      what is said to nodes for readmission (pure); spoken.go: all that is said, for a simulator
//	scripts.go    the Lua scripts of ours that run on nodes
//	preflight.go  what is wrong with a node, judged by what it said (pure)
//	examine.go    asking it; Check
//	attend.go     looking at an idle node; a clock that jumped
//	teach.go      bringing back a node that forgot, step by step
//	side.go       a connection beside the pipe, for that
//	pupil.go      the steps on the node itself
//	scan.go       the steps on the others
//	conn*.go      the net.Conn under redigo: many requests, one write, without waiting where the system can
//	ring.go       the queue of a connection
//	clock_*.go    the clock that rounds are judged by, for each system
//	watched.go    the build tag that measures what the watch costs
//	demo/         embedded nodes
package backend
