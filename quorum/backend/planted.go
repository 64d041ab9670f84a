//go:build !planted

package backend

import "redlockd/quorum"

// See quorum.Bug: nothing is planted in this build.
const vouchAnyMark = ""

var (
	resurrect    *script
	plantedMerge [quorum.NumBugs]string
)
