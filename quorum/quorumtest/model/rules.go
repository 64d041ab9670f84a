package model

// Rule names one clause of the readmission rules, or one refinement of them, that a search can take out.
type Rule uint8

// All is every rule in force.
const All Rule = 0

// The clauses, in the order of the rules.
const (
	P2KnownBefore Rule = iota + 1
	P2StillThere
	P2Tail
	P2TailAlone
	P2Step
	P3Majority
	P3Limit
	P3Extend
	P4Unvouch
	P5OneConnection
	P6Wait
	P6BeforeScan
	P6WholeLimit
	P7Sources
	P7VouchedBefore
	P7VouchedAfter
	P8NotLeft
	P8NotOverwritten
	P8NotLongest
	P8NotFlushed
	P8LongerTTL
	P9Mark
	P9Clock
	P11AllNodes
	P11AtOnce
	P11Wait
	// Below here: refinements, not in the rules as they were first written.
	MarkOffset
	BaselineOutlives
	DoubtOutlives
	StepsWhileDoubting
	TimeFirst
	NarrowBaseline
	P13Mark
	P13Clock
	P11Scars
	rules
)

// Clause is a Rule in words.
type Clause struct {
	Rule     Rule
	Number   string // P-number
	Name     string
	Sentence string // what is done instead
}

// Clauses are the rules marked (!): without any one of them there is a double grant.
var Clauses = []Clause{
	{P2KnownBefore, "P2", "known-before", "takes are sent over a connection on which no vouched value was read"},
	{P2StillThere, "P2", "still-there", "a yes counts without looking at boot behind it"},
	{P2Tail, "P2", "tail", "boot is read at the head of the flush"},
	{P2TailAlone, "P2", "tail-alone", "a yes counts if boot vouches at the tail, though with another value than was known before"},
	{P2Step, "P2", "step", "a clock step is ignored"},
	{P3Majority, "P3", "majority", "a majority of the nodes that were asked is enough"},
	{P3Limit, "P3", "limit", "a take is granted after R, within its ttl"},
	{P3Extend, "P3", "extend-limit", "an extend is granted after R, within its ttl"},
	{P4Unvouch, "P4", "unvouch", "a step is noticed once, and is the new baseline"},
	{P5OneConnection, "P5", "one-connection", "the teacher goes on over another connection"},
	{P6Wait, "P6", "wait", "no wait"},
	{P6BeforeScan, "P6", "wait-before-scan", "R is waited after the scan"},
	{P6WholeLimit, "P6", "wait-all-of-R", "a wait one tick shorter than R"},
	{P7Sources, "P7", "sources", "N - majority others are enough"},
	{P7VouchedBefore, "P7", "vouched-before", "a source is looked at after the scan only"},
	{P7VouchedAfter, "P7", "vouched-after", "a source is looked at before the scan only"},
	{P8NotLeft, "P8", "not-left", "another token on the node is left"},
	{P8NotOverwritten, "P8", "not-overwritten", "another token on the node is overwritten"},
	{P8NotLongest, "P8", "not-longest", "of two tokens the one with the longer ttl is kept"},
	{P8NotFlushed, "P8", "not-flushed", "the node is flushed first"},
	{P8LongerTTL, "P8", "longer-ttl", "the same token gets the source's ttl, shorter or not"},
	{P9Mark, "P9", "mark", "vouched for though boot is not the teacher's own mark any more"},
	{P9Clock, "P9", "clock", "vouched for whatever the node's clock did since begin"},
	{P11AllNodes, "P11", "all-nodes", "a new fleet is begun by the nodes that can be reached"},
	{P11AtOnce, "P11", "at-once", "each node is vouched for by what it said in its turn; the marks of all are not read again"},
	{P11Wait, "P11", "wait", "no wait"},
}

// without says whether r is taken out.
func (w *World) without(r Rule) bool { return w.Without == r }

// Refinements are what the search asked for beyond the rules.
var Refinements = []Clause{
	{MarkOffset, "P1", "mark-offset", "the mark has no clock offset: a proxy that connects after a step sees none"},
	{BaselineOutlives, "P4", "baseline-outlives", "the baseline is forgotten with the connection, though the instance is the same (steps below clock-tolerance)"},
	{DoubtOutlives, "P4", "doubt-outlives", "the doubt is forgotten with the connection, before the unvouch was answered"},
	{StepsWhileDoubting, "P4", "steps-while-doubting", "the baseline stands still until the node is trusted again: a second step does not show (steps below clock-tolerance)"},
	{TimeFirst, "P2", "time-first", "the tail reads boot before TIME: the step may be later than the value that is doubted with it (below clock-tolerance)"},
	{NarrowBaseline, "P2", "narrow-baseline", "a baseline as wide as a slow round trip is enough: a shorter step does not show"},
	{P13Mark, "P13", "old-mark", "a complete file is trusted though the mark in it does not vouch: something was missing before"},
	{P13Clock, "P13", "old-clock", "a complete file is trusted though the clock is another than when it was vouched for"},
	{P11Scars, "P11", "scars", "a node that was vouched for once, and un-vouched for a step, passes for new"},
}
