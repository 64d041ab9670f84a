package commands

import "testing"

func BenchmarkParseTake(b *testing.B) {
	args := [][]byte{[]byte("SET"), []byte("lock:000012345678"), []byte("token"), []byte("NX"), []byte("PX"), []byte("30000")}
	b.ReportAllocs()
	var c Command
	for b.Loop() {
		c = Command{}
		if err := c.Parse(args, nil); err != nil {
			b.Fatal(err)
		}
	}
}
