// Package proxy owns the clients' sockets.
//
// The way of one request:
//
//	guard.go, framing.go  bytes: lets whole, bounded commands through, and nothing else
//	(redcon)              arguments
//	session.go, batch.go  a pipelined batch: starts all its rounds, waits, answers in order
//	rounds.go             room for the rounds, T1, and the second round that some need
//	(commands.Parse)      what is wanted
//	locks.go              the round it becomes, and the reply that a verdict becomes
//	(quorum)              the verdict
//	reply.go              bytes again, RESP2 or RESP3
//
// And beside it: transaction.go, for WATCH, MULTI and EXEC; server.go, which serves and stops; pubsub.go and
// subscribe.go, for messages among the clients; home.go, client.go, clientlist.go, command.go, syntax.go, config.go, info.go and admin.go, in which a client
// feels at home; redlock.go, for who operates the nodes.
package proxy
