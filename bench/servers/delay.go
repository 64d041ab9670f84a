package servers

import (
	"io"
	"net"
	"sync"
	"time"
)

// A line of chunks on their way: at most lateChunks of lateSize bytes. Past that the sender waits, as on a full wire.
const (
	lateChunks = 1024
	lateSize   = 16 << 10
)

// late is some bytes and when they are to arrive.
type late struct {
	bytes []byte
	due   time.Time
}

// passLate is pass with the delay of the moment in which the bytes came in. Their order stays.
func (f *Forward) passLate(to, from net.Conn) {
	line := make(chan late, lateChunks)
	var writing sync.WaitGroup
	var wrote error
	writing.Go(func() { wrote = deliver(to, from, line) })
	buf := make([]byte, lateSize)
	var err error
	for err == nil {
		var n int
		n, err = from.Read(buf)
		if n > 0 {
			line <- late{append([]byte(nil), buf[:n]...), time.Now().Add(time.Duration(f.delay.Load()))}
		}
	}
	close(line)
	writing.Wait()
	if err != io.EOF || wrote != nil {
		reset(to)
		reset(from)
		return
	}
	_ = to.(*net.TCPConn).CloseWrite()
}

// deliver writes what is due, until the line ends. After an error it only empties the line.
func deliver(to, from net.Conn, line <-chan late) (err error) {
	for l := range line {
		if err != nil {
			continue
		}
		time.Sleep(time.Until(l.due))
		if _, err = to.Write(l.bytes); err != nil {
			reset(from) // the reader would wait for a server that has nothing to say
		}
	}
	return err
}
