package backend

import (
	"io"
	"testing"
	"time"
)

func TestUnread(t *testing.T) {
	ours, theirs := overTCP(t)
	if ours.unread() {
		t.Fatal("nothing was sent")
	}
	if _, err := theirs.Write([]byte("+OK")); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); !ours.unread(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("three bytes are not seen")
		}
	}
	if _, err := io.ReadFull(ours, make([]byte, 3)); err != nil || ours.unread() {
		t.Fatalf("%v, or they are still seen", err)
	}
	ours.Close()
	if ours.unread() {
		t.Fatal("it is closed")
	}
}
