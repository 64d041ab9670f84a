package sim

import "redlockd/quorum"

// Bug is a planted bug in words.
type Bug struct {
	Bug  quorum.Bug
	Name string
	What string // is done instead of what is right
	Rule string // that it breaks, or who had it
	// Mirror: it is planted in this package, beside what it has in common with quorum/backend and quorum.Fleet, since their own code is
	// not run here. The others are planted in the code that redlockd runs.
	Mirror bool
	// Focus of the seeds that look for it.
	Focus string
	// Seeds is within how many of them it must be found; 0: it is not, since it Hides.
	Seeds int
	Hides string
}

// Bugs are all of them.
var Bugs = []Bug{
	{quorum.BugMajorityOfReachable, "majority of the reachable", "nodes that do not answer are not counted among those that a majority is of", "R14, P3", false, "time", 64, ""},
	{quorum.BugHalf, "N/2", "N/2 nodes are a majority", "R14", false, "time", 64, ""},
	{quorum.BugUnknownIsNo, "unknown is no", "a node that did not answer has said no", "R13", false, "time", 64, ""},
	{quorum.BugUnknownIsYes, "unknown is yes", "a node that did not answer has said yes", "R13", false, "time", 64, ""},
	{quorum.BugPadSubtracted, "drift the wrong way", "the nodes are given the ttl less drift, not more", "R15", false, "time", 64, ""},
	{quorum.BugNoPad, "no drift", "the nodes are given the bare ttl", "R15", false, "time", 64, ""},
	{quorum.BugLateT1, "late T1", "the clock is read when the first answer is there", "R10", true, "lateness", 400, ""},
	{quorum.BugNoT2, "no T2", "a majority is enough, however long it took", "R14", false, "lateness", 64, ""},
	{quorum.BugNoRoundLimit, "no round limit", "a grant only has to come within its ttl", "P3", false, "lateness", 64, ""},
	{quorum.BugExtendNoLimit, "no limit to extends", "an extend is granted however long it took", "P3, R20", false, "lateness", 400, ""},
	{quorum.BugNoUndoOfTheGone, "no undo of the gone", "a client that has hung up takes its undo with it", "R17", true, "lateness", 64, ""},
	{quorum.BugNoLateUndo, "no late undo", "a yes that comes behind the verdict is not undone", "R17", true, "lateness", 64, ""},
	{quorum.BugUndoByToken, "undo by token", "an undo deletes whatever has its token", "R6", false, "tokens", 400, ""},
	{quorum.BugUndoOvertakes, "undo overtakes", "an undo goes over another connection, at once, to all", "R19", true, "lateness", 64, ""},
	{quorum.BugOwedTooLate, "owed for ever", "an undo or a release is told after its until", "R4", true, "lateness", 64, ""},
	{quorum.BugTopUpUngranted, "top-up without a grant", "nodes are given a lock that was not granted", "R17", true, "time", 64, ""},
	{quorum.BugReleaseAnyToken, "release of any token", "a release is DEL", "R7", false, "lateness", 64, ""},
	{quorum.BugExtendAnyToken, "extend of any token", "an extend is PEXPIRE", "R20", false, "lateness", 64, ""},
	{quorum.BugExtendResurrects, "extend that resurrects", "an extend sets a lock that is gone", "R20", false, "lateness", 64, ""},
	{quorum.BugVotesAtOnce, "votes at once", "a node that was restarted votes at once", "R21", false, "forgetting", 64, ""},
	{quorum.BugNotKnownBefore, "not known before", "takes are sent though no mark was read before; one at the tail is enough", "P2", false, "forgetting", 400, ""},
	{quorum.BugNoTail, "no tail", "a yes counts without a look at the mark behind it", "P2", false, "forgetting", 400, ""},
	{quorum.BugTailAlone, "tail alone", "a mark that vouches at the tail is enough, though it is another than before", "P2", false, "forgetting", 0, "a request that was on its way while the node was taught comes later than R, so that P3 refuses what P2 let through, but for some milliseconds"},
	{quorum.BugHeadOfFlush, "head of the flush", "mark and clock are read in front of the requests", "P2", true, "forgetting", 64, ""},
	{quorum.BugStepUnseen, "step unseen", "nobody looks at the clocks of flushes", "P2, R24", false, "clocks", 64, ""},
	{quorum.BugStepSeenOnce, "step seen once", "a clock step is noticed once, and is the new baseline", "P4", false, "clocks", 64, ""},
	{quorum.BugOtherConnection, "other connection", "a lesson goes on over another connection", "P5", true, "lessons", 0, "the node would have to come back from a snapshot that was made within the same lesson"},
	{quorum.BugNoWait, "no wait", "a lesson does not wait", "P6", false, "votes in flight", 64, ""},
	{quorum.BugWaitAfterScan, "wait after the scan", "a lesson waits when it has scanned", "P6", false, "votes in flight", 64, ""},
	{quorum.BugShortWait, "short wait", "a lesson waits a quarter of R", "P6", false, "votes in flight", 64, ""},
	{quorum.BugFewSources, "few sources", "N - majority others are scanned", "P7", false, "lessons", 64, ""},
	{quorum.BugSourceNotVouchedBefore, "not vouched before", "a source is looked at behind the scan only", "P7", true, "lessons", 0, "the source would have to forget just before its scan, and be vouched for before the scan ends"},
	{quorum.BugSourceNotVouchedAfter, "not vouched after", "a source is looked at before the scan only", "P7", true, "lessons", 64, ""},
	{quorum.BugMergeLeaves, "merge leaves", "another token on the node is left", "P8", false, "forgetting", 64, ""},
	{quorum.BugMergeOverwrites, "merge overwrites", "another token on the node is overwritten", "P8", false, "forgetting", 64, ""},
	{quorum.BugMergeLongest, "merge keeps the longest", "of two tokens the one that lasts longer is kept", "P8", false, "forgetting", 64, ""},
	{quorum.BugMergeFlushes, "merge flushes", "the node is flushed first", "P8", true, "forgetting", 64, ""},
	{quorum.BugMergeShortens, "merge shortens", "the same token gets the source's ttl, shorter or not", "P8", false, "forgetting", 400, ""},
	{quorum.BugVouchAnyMark, "vouch for any mark", "a node is vouched for though its mark is not the lesson's", "P9", false, "lessons", 400, ""},
	{quorum.BugVouchAnyClock, "vouch for any clock", "a node is vouched for whatever its clock did meanwhile", "P9", false, "clocks", 0, "what the lesson overlooks is seen by the watch of every connection that was open before"},
	{quorum.BugNewOfReachable, "new by the reachable", "nodes that cannot be reached do not keep a fleet from being new", "P11", false, "new fleets", 64, ""},
	{quorum.BugNewNotAtOnce, "new one by one", "the marks of a new fleet are not read again", "P11", true, "new fleets", 0, "two redlockd would have to found one fleet while one of them stands still for longer than its lease"},
	{quorum.BugNewNoWait, "new without a wait", "a new fleet does not wait", "P11", true, "new fleets", 0, "a request that was sent before the founding is not counted (P2), and all of a round's are sent at once"},
}
