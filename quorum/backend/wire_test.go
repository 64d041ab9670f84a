package backend

import (
	"testing"
	"time"

	"redlockd/quorum"
)

var ordinary = quorum.Request{
	Op: quorum.Take, Key: []byte("lock:orders:000012345678"), Token: []byte("5f2b9c1e-6a1d-4a52-9a5e-2a7f2f9d7c11"),
	TTL: 30 * time.Second, Life: quorum.Pad(30 * time.Second),
}

// A request costs no memory on its way to the nodes, nor does the vote that comes back.
func TestVotesAreNotAllocated(t *testing.T) {
	buf := make(words, 0, 1024)
	req := ordinary
	for _, op := range []quorum.Op{quorum.Take, quorum.Release, quorum.Extend, quorum.Get, quorum.TakeBack, quorum.TopUp} {
		req.Op = op
		if n := testing.AllocsPerRun(100, func() { buf = encode(buf[:0], &req, 0, false) }); n != 0 {
			t.Errorf("%v: %v allocations to encode it", op, n)
		}
	}
	var a quorum.Answer
	for _, v := range []any{"OK", nil, int64(1), int64(0)} {
		req.Op = quorum.Take
		if _, number := v.(int64); number {
			req.Op = quorum.Release
		}
		if n := testing.AllocsPerRun(100, func() { a = decode(&req, v, nil) }); n != 0 {
			t.Errorf("%v: %v allocations to decode it", v, n)
		}
	}
	if a.Vote != quorum.Yes {
		t.Fatal(a.Vote)
	}
}

func BenchmarkEncodeTake(b *testing.B) {
	buf := make(words, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = encode(buf[:0], &ordinary, 0, false)
	}
}

func BenchmarkDecodeTake(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		decode(&ordinary, "OK", nil)
	}
}
