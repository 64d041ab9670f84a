package main

import (
	"bytes"
	"sync"
	"testing"
)

// slowWriter blocks until it is opened.
type slowWriter struct {
	open chan struct{}
	mu   sync.Mutex
	bytes.Buffer
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-w.open
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Buffer.Write(p)
}

// Locks must not wait for a log that nobody reads.
func TestLogDoesNotBlock(t *testing.T) {
	w := &slowWriter{open: make(chan struct{})}
	log := newPatientLog(w)
	for range 3 * cap(log.lines) {
		if n, err := log.Write([]byte("line\n")); n != 5 || err != nil {
			t.Fatal(n, err)
		}
	}
	close(w.open)
	log.finish()
	lines := bytes.Count(w.Bytes(), []byte("line\n"))
	if lines < cap(log.lines) || lines > cap(log.lines)+1 {
		t.Fatalf("%d lines", lines)
	}
}

func TestNetworkOf(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:1": "tcp4", "127.0.0.1:0": "tcp4", "[::]:1": "tcp", "localhost:1": "tcp", ":1": "tcp",
	} {
		if got := networkOf(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
