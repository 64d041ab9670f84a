// Package backend owns the nodes' sockets: it implements quorum.Node on redigo.
//
//	wire.go     a request as the commands a node understands, and the reply as an answer
//	scripts.go  the few Lua scripts of ours that run on nodes
//	pipe.go     one node: the connection in use, what is owed to it
//	dial.go     connecting, and connecting again
//	preflight.go  what is wrong with a node, judged by what it said (pure)
//	examine.go  asking it; Check
//	link.go     one connection: a writer, a reader, and the requests in between
//	conn.go     the net.Conn under redigo: many requests, one write
//	ring.go     the queue of a connection
//	clock_*.go  the clock that rounds are judged by, for each system
//	demo/       embedded nodes
package backend
