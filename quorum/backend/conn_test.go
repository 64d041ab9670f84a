package backend

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// overTCP is one of our connections over a real socket, and its other end.
func overTCP(t *testing.T) (ours *conn, theirs net.Conn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); theirs.Close() })
	return newConn(c), theirs
}

// What the system does not take at once is written by flush, behind what it took, and nothing twice.
func TestWhatIsNotTakenAtOnceIsFlushed(t *testing.T) {
	ours, theirs := overTCP(t)
	want := make([]byte, 64<<20) // more than the system holds for who does not read
	for i := range want {
		want[i] = byte(i * 31 >> 8)
	}
	ours.buf = append(ours.buf, want...)
	if ours.try() {
		t.Fatal("the system took 64 MiB that nobody reads")
	}
	if ours.written == 0 || ours.written == len(want) {
		t.Fatalf("took %d bytes of %d", ours.written, len(want))
	}
	got := make(chan []byte, 1)
	go func() {
		all := make([]byte, len(want))
		_, _ = io.ReadFull(theirs, all) // told by the comparison
		got <- all
	}()
	if err := ours.flush(time.Minute); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(<-got, want) {
		t.Fatal("other bytes arrived")
	}
	ours.buf = append(ours.buf, "more"...)
	if !ours.try() || len(ours.buf) != 0 {
		t.Fatal("four bytes are not taken")
	}
}

// After a deadline has passed, writing goes on all the same.
func TestPassedDeadline(t *testing.T) {
	ours, theirs := overTCP(t)
	if err := ours.Conn.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	ours.buf = append(ours.buf, "ping"...)
	if ours.try() {
		t.Fatal("written behind the deadline")
	}
	if err := ours.flush(time.Minute); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(theirs, got); err != nil || string(got) != "ping" {
		t.Fatalf("%q, %v", got, err)
	}
}
