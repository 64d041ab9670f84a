package quorum

import "time"

// How long a grant may be relied on, and what is given to the nodes so that it may.

// Drift is what clocks may differ by over d, from R15: 1 % for rates, 1 ms for the
// precision of an expiry and 1 ms at least.
func Drift(d time.Duration) time.Duration { return d/100 + 2*time.Millisecond }

// Pad is the time to live that a node is given for a lock of ttl: drift on top,
// in whole milliseconds, rounded up. We deviate from the classic algorithm, in
// which the client subtracts drift from what it may rely on: an unmodified client
// subtracts nothing, so that the nodes must pay.
func Pad(ttl time.Duration) time.Duration {
	switch planted {
	case BugPadSubtracted:
		return max(time.Millisecond, (ttl - Drift(ttl)).Truncate(time.Millisecond))
	case BugNoPad:
		return ttl
	}
	return (ttl + Drift(ttl) + time.Millisecond - 1).Truncate(time.Millisecond)
}

// Unpad is the inverse of Pad: what may be promised when a node says that
// remaining is left. It rounds down: never a promise too long.
func Unpad(remaining time.Duration) time.Duration {
	remaining -= 2 * time.Millisecond
	if remaining <= 0 {
		return 0
	}
	// Divided first, so that no remaining time overflows.
	return (remaining/101*100 + remaining%101*100/101).Truncate(time.Millisecond)
}

// Validity is how long a lock of ttl may be relied on (R14, R16), when the nodes were
// given life and spent has gone by since before the first request was sent:
// life - spent - drift. With life = Pad(ttl) that is what the client thinks
// anyway: ttl, counted from before it asked.
func Validity(ttl, life, spent time.Duration) time.Duration {
	return life - spent - Drift(ttl)
}

// InTime says whether a majority that was complete after spent grants a lock or
// an extend of ttl: spent < min(ttl, limit) and a validity above zero (R14).
// limit is the round limit R, the same number for every proxy of a fleet: no vote is
// ever counted later than that after its round began.
func InTime(ttl, life, limit, spent time.Duration) bool {
	switch planted {
	case BugNoT2:
		return true
	case BugNoRoundLimit:
		limit = ttl
	case BugPadSubtracted, BugNoPad:
		return spent < ttl && spent < limit
	}
	return spent < ttl && spent < limit && Validity(ttl, life, spent) > 0
}
