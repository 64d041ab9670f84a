package backend

// ring is a queue that is looked into: at(0) is the oldest.
type ring struct {
	calls []call // its length is a power of two
	first int
	n     int
}

func (r *ring) at(i int) *call { return &r.calls[(r.first+i)&(len(r.calls)-1)] }

func (r *ring) push(c call) {
	if r.n == len(r.calls) {
		larger := make([]call, max(16, 2*len(r.calls)))
		for i := range r.n {
			larger[i] = *r.at(i)
		}
		r.calls, r.first = larger, 0
	}
	r.n++
	*r.at(r.n - 1) = c
}

// pop moves the n oldest calls to the end of into.
func (r *ring) pop(n int, into []call) []call {
	for i := range n {
		c := r.at(i)
		into = append(into, *c)
		*c = call{} // keeps nothing of it alive
	}
	r.n -= n
	r.first = (r.first + n) & max(0, len(r.calls)-1)
	if r.n == 0 && len(r.calls) > 4096 {
		r.calls, r.first = nil, 0 // a burst is over
	}
	return into
}

// cut moves all but the n oldest calls to the end of into.
func (r *ring) cut(n int, into []call) []call {
	for i := n; i < r.n; i++ {
		into = append(into, *r.at(i))
		*r.at(i) = call{}
	}
	r.n = min(r.n, n)
	return into
}
