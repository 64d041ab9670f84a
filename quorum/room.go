package quorum

import "sync"

// room is for so many rounds in flight. Whoever wants more than there is waits, in the order of arrival, for all of it at
// once: so that a client's batch goes out whole or waits whole, and batches stay large when there are many.
type room struct {
	mu      sync.Mutex
	free    int
	waiting []waiter // the oldest first. Invariant: it wants more than is free
}

type waiter struct {
	n     int
	given chan struct{} // closed when it has its n
}

// try to take n.
func (r *room) try(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 || r.free < n {
		return false
	}
	r.free -= n
	return true
}

// take n, not more than there ever is, as soon as it is our turn and there are so many.
func (r *room) take(n int) {
	r.mu.Lock()
	if len(r.waiting) == 0 && r.free >= n {
		r.free -= n
		r.mu.Unlock()
		return
	}
	w := waiter{n, make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()
	<-w.given
}

// used is how much of all is in use, or reserved.
func (r *room) used(all int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return all - r.free
}

// give n back.
func (r *room) give(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
	for len(r.waiting) > 0 && r.waiting[0].n <= r.free {
		r.free -= r.waiting[0].n
		close(r.waiting[0].given)
		r.waiting[0] = waiter{}
		r.waiting = r.waiting[1:]
	}
}
