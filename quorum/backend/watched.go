//go:build !unwatched

package backend

// watched: what a node says counts only if its mark and its clock, read behind it, show that it forgot nothing. The build tag
// unwatched exists to measure what that costs (bench), and for nothing else: without it a lock can be given away twice.
const watched = true
