package load

import (
	"math/bits"
	"time"
)

// A Histogram counts durations in log-linear buckets, as HdrHistogram does: exact below 2^subBits ns, and above that 2^(subBits-1) buckets
// for every doubling. The law: what Quantile returns is never below the true value, and at most 1/64 (1.6 %) above it.
// Bounded memory whatever the run's length: 15 KiB each, one per client.
const (
	subBits  = 7
	half     = 1 << (subBits - 1)           // buckets per doubling
	maxBits  = 36                           // 68 s; longer ones are counted there, and Max is exact
	nBuckets = (maxBits-subBits+2)*half + 1 // the last one: longer than that
)

// Histogram is not safe for concurrent use: one per client, merged at the end. The zero value is ready.
type Histogram struct {
	counts [nBuckets]uint32
	n      uint64
	sum    time.Duration
	max    time.Duration
}

// bucket gives the place of v. With e = the doublings above the exact part, v>>e lies in [half, 2*half).
func bucket(v uint64) int {
	if v >= 1<<maxBits {
		return nBuckets - 1
	}
	e := bits.Len64(v) - subBits
	if e <= 0 {
		return int(v)
	}
	return e*half + int(v>>e)
}

// upper is the largest value that falls into bucket i.
func upper(i int) uint64 {
	if i < 2*half {
		return uint64(i)
	}
	e := i/half - 1
	return (uint64(i-e*half)+1)<<e - 1
}

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n += other.n
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// Count is how many durations were recorded.
func (h *Histogram) Count() uint64 { return h.n }

// Max is the longest, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is exact too; 0 of nothing.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Quantile is the duration that a share q of all did not exceed; 0 of nothing.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := uint64(q * float64(h.n))
	if float64(rank) < q*float64(h.n) {
		rank++
	}
	rank = max(rank, 1)
	var seen uint64
	for i, c := range h.counts {
		if seen += uint64(c); seen >= rank && i < nBuckets-1 {
			return min(time.Duration(upper(i)), h.max)
		}
	}
	return h.max
}
