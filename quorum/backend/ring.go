package backend

// ring is a queue that is looked into: at(0) is the oldest.
type ring[T any] struct {
	all   []T // its length is a power of two
	first int
	n     int
}

func (r *ring[T]) at(i int) *T { return &r.all[(r.first+i)&(len(r.all)-1)] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.all) {
		larger := make([]T, max(16, 2*len(r.all)))
		for i := range r.n {
			larger[i] = *r.at(i)
		}
		r.all, r.first = larger, 0
	}
	r.n++
	*r.at(r.n - 1) = v
}

// pop moves the n oldest to the end of into.
func (r *ring[T]) pop(n int, into []T) []T {
	for i := range n {
		v := r.at(i)
		into = append(into, *v)
		*v = *new(T) // keeps nothing of it alive
	}
	r.n -= n
	r.first = (r.first + n) & max(0, len(r.all)-1)
	if r.n == 0 && len(r.all) > 4096 {
		r.all, r.first = nil, 0 // a burst is over
	}
	return into
}

// drop the oldest.
func (r *ring[T]) drop() {
	*r.at(0) = *new(T)
	r.n--
	r.first = (r.first + 1) & (len(r.all) - 1)
}

// cut moves all but the n oldest to the end of into.
func (r *ring[T]) cut(n int, into []T) []T {
	for i := n; i < r.n; i++ {
		into = append(into, *r.at(i))
		*r.at(i) = *new(T)
	}
	r.n = min(r.n, n)
	return into
}
