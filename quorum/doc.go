// Package quorum decides who has won, and who may vote.
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
//	ticket.go    what its asker holds: starts it, waits, tries again after a split vote; the memory of a round
//	fleet.go     carries it to all of them, in one order; one flush for many rounds
//	room.go      for how many rounds there is room
//	node.go      what a node must be able to do
//	vote.go      what one node said
//	round.go     the state of one round: who voted what, what must be taken back
//	judge.go     votes -> verdict
//	validity.go  how long a grant may be relied on
//	health.go    is a node worth waiting for
//	errors.go    why there is no verdict, node by node
//	bug.go       mistakes that can be planted in a build of its own, so that the simulator is seen to find them
//
// And of a node that forgot, back into the vote:
//
//	mark.go      what a node carries that says whether its memory is whole
//	clock.go     whether its clock has jumped
//	watch.go     whether what it says counts
//	lesson.go    what to do next to bring it back
//
// Everything but ticket.go, fleet.go and room.go is pure: told the time, never asking for it.
//
// # Readmission
//
// A node that lost locks which somebody still holds must not vote until it has them again, or two votes of its
// two lives make two majorities. The rules, as they are cited in the code:
//
//   - P1: each node carries a mark without expiry, which is gone with its memory: absent, "teaching", or vouched for: then it names
//     the instance (run_id), and has a nonce that is never used again.
//   - P2: takes and extends are sent only over a connection on which the mark was read before. The mark and the clock are
//     read behind them, in the same flush; a yes counts only if the mark is still the one known before. At the head of
//     the flush, what happens behind it is missed; without knowing it before, what happened in front of it. A take's no always
//     counts; every other no counts like a yes.
//   - P3: no vote is counted later than R, the round limit, after its round began, and R is one number for all redlockd.
//   - P4: who sees the clock jump takes the mark away, for everyone, and counts nothing until that was answered and a new mark was read.
//     In its place stands "spoilt": such a node still has locks that others may have forgotten, and is not new (P11).
//   - P5: a lesson begins by setting a mark of its own on the node. What follows goes over one connection, and is void without it.
//   - P6: then R must pass before anything is copied: a yes of the node's earlier life may still be waiting for the votes that complete its
//     majority.
//   - P7: N - majority + 1 others are scanned; each must be vouched for, by the same mark before the first key and after the last.
//   - P8: what they hold is merged: never shortened, never deleted; a key with two tokens is blocked for both.
//   - P9: the node is vouched for only if the lesson's mark still stands, and its clock has gone as ours has.
//   - P10: where too few others are vouched for, the longest ttl is waited for instead.
//   - P11: a fleet of which no node is vouched for, and none is spoilt, is new: all of them are marked, R passes, all still carry the marks, then each is
//     vouched for. One that was restarted as a whole looks the same: so each is given what any of the others has, first.
//   - P12: what only removes is sent to all nodes, always. A client never sees marks, and of a blocked key only that it is held.
//   - P13: a node that has kept everything on disk is taught all the same; it only need not wait where nobody can teach it.
//
// Why it holds: a lock that was granted with a yes of the node's earlier life had all its votes carried out before the scan
// (P3, P6). The scanned nodes and the lock's other voters share one node (P7), and that one has had the lock, or blocked it, all the
// time (P2, P8). So the node that was taught has it, too, before its next yes can count (P9).
package quorum
