package quorum

import "time"

// Health says whether a node is worth waiting for. It is about speed alone: no
// verdict depends on it, since a node that is not asked is Unknown.
type Health uint8

const (
	// Down: not connected.
	Down Health = iota
	// Silent: connected, but it owes answers and has said nothing for the node timeout.
	// It is not asked until it answers again.
	Silent
	// Up: it answers.
	Up
)

func (h Health) String() string { return [...]string{"down", "silent", "up"}[h] }

// Patience is how long a node is waited for.
type Patience struct {
	Timeout time.Duration // for one answer (R12)
	Silence time.Duration // without a word, before the connection is given up
}

// Judge returns the health of a connected node that has owed answers, and not said
// a word, for waited. Down means: give the connection up.
func (p Patience) Judge(waited time.Duration) Health {
	switch {
	case waited >= p.Silence:
		return Down
	case waited >= p.Timeout:
		return Silent
	default:
		return Up
	}
}

// Backoff is the wait before the next attempt to connect, after failed attempts in a
// row: doubled from least up to most, then half to all of it, by chance in [0, 1).
func Backoff(failed int, least, most time.Duration, chance float64) time.Duration {
	wait := least
	for range min(failed, 32) {
		if wait *= 2; wait >= most {
			wait = most
			break
		}
	}
	return Jitter(wait, chance)
}

// Jitter is half to all of d (R18), so that those who collided do not collide again.
// chance is in [0, 1).
func Jitter(d time.Duration, chance float64) time.Duration {
	return d/2 + time.Duration(chance*float64(d-d/2))
}
