// Package quorum decides who has won.
//
// A command of a client becomes a round: it is carried to every node of the
// fleet, each node votes yes, no or unknown, and the votes make a verdict:
// granted, denied or undecided. This package holds the rules of that game
// (the R-numbers in the comments are the rules of Redlock, listed in the README)
// and nothing of its equipment: it opens no socket, and whoever implements Node
// brings the votes.
//
// One request's way through the files:
//
//	request.go   what is asked of every node
//	fleet.go     carries it to all of them, in one order; waits; tries again after a split vote
//	node.go      what a node must be able to do
//	vote.go      what one node said
//	round.go     the state of one round: who voted what, what must be taken back
//	judge.go     votes -> verdict
//	validity.go  how long a grant may be relied on
//	health.go    is a node worth waiting for
//	errors.go    why there is no verdict, node by node
//
// Everything but fleet.go is pure: told the time, never asking for it.
package quorum
