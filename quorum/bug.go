package quorum

// Bug is a mistake that can be planted on purpose, in a build with the tag "planted" and nowhere else, to see that the simulator
// finds it (quorumtest/sim has them all in words). In every other build the bug that is planted is the
// constant NoBug, so that the compiler leaves out what is behind a question for another.
type Bug uint8

const (
	NoBug Bug = iota

	// Of verdicts.
	BugMajorityOfReachable
	BugHalf
	BugUnknownIsNo
	BugUnknownIsYes
	// Of time.
	BugPadSubtracted
	BugNoPad
	BugLateT1
	BugNoT2
	BugNoRoundLimit
	BugExtendNoLimit
	// Of undo, release, extend.
	BugNoUndoOfTheGone
	BugNoLateUndo
	BugUndoByToken
	BugUndoOvertakes
	BugOwedTooLate
	BugTopUpUngranted
	BugReleaseAnyToken
	BugExtendAnyToken
	BugExtendResurrects
	// P2: which votes count.
	BugVotesAtOnce
	BugNotKnownBefore
	BugNoTail
	BugTailAlone
	BugHeadOfFlush
	BugStepUnseen
	// P4 to P6.
	BugStepSeenOnce
	BugOtherConnection
	BugNoWait
	BugWaitAfterScan
	BugShortWait
	// P7 to P9.
	BugFewSources
	BugSourceNotVouchedBefore
	BugSourceNotVouchedAfter
	BugMergeLeaves
	BugMergeOverwrites
	BugMergeLongest
	BugMergeFlushes
	BugMergeShortens
	BugVouchAnyMark
	BugVouchAnyClock
	// P11.
	BugNewOfReachable
	BugNewNotAtOnce
	BugNewNoWait
	// NumBugs is how many there are, NoBug included.
	NumBugs
)

// Planted is the bug that is planted.
func Planted() Bug { return planted }
