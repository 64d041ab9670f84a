package quorum

import "time"

// Health says whether a node is worth waiting for. It is about speed alone: no
// verdict depends on it, since a node that is not asked is Unknown.
type Health uint8

const (
	// Down: not connected.
	Down Health = iota
	// Silent: connected, but it owes answers and has said nothing for four node timeouts.
	// It is not asked until it answers again.
	Silent
	// Up: it answers.
	Up
)

func (h Health) String() string { return [...]string{"down", "silent", "up"}[h] }

// Patience is how long a node is waited for.
type Patience struct {
	Timeout time.Duration // for one answer (R12), without a word from the node
	Limit   time.Duration // for one answer, from a node that keeps answering others; the round limit
	Silence time.Duration // without a word, before the connection is given up
}

// Due is when a request that was sent at sent is given up, if the node was last heard at heard. A node
// that has many to answer and does so, one after the other, is not hung: this answer will come.
func (p Patience) Due(sent, heard time.Duration) time.Duration {
	return min(max(sent, heard)+p.Timeout, sent+max(p.Timeout, p.Limit))
}

// quiet is after how many timeouts without a word a node is not asked any more. More than one: a
// short pause costs single votes, and must not turn into a refusal to ask.
const quiet = 4

// Quiet is how long a node may owe answers without a word before it is not asked any more.
func (p Patience) Quiet() time.Duration { return quiet * p.Timeout }

// Judge returns the health of a connected node that has owed answers, and not said
// a word, for waited. Down means: give the connection up.
func (p Patience) Judge(waited time.Duration) Health {
	switch {
	case waited >= p.Silence:
		return Down
	case waited >= p.Quiet():
		return Silent
	default:
		return Up
	}
}

// Excuse is how much longer nodes are waited for when our own timer fired late: we stood still,
// and what they have answered meanwhile has not been read yet. As long as we stood still, one
// more timeout at the most.
func (p Patience) Excuse(late time.Duration) time.Duration {
	if late <= p.Timeout/10 {
		return 0
	}
	return min(late, p.Timeout)
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
