// What the Linux kernel knows about the fate of bytes that it took from us.
package proxy

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// goneWithin is how long we ask: a network round trip and no more, because the connection keeps its slot meanwhile.
const goneWithin = 250 * time.Millisecond

type fate uint8

const (
	fateUnknown fate = iota
	fateAcked        // the peer's kernel has all of it: a program may have read it
	fateRefused      // reset before all of it was acknowledged: no program has read the end of it
)

// refusedByPeer is for a connection that has sent us its FIN. Did the peer close before our last bytes arrived? Then its kernel
// answered them with RST, a round trip later. One that only half-closed acknowledges them. Unknown counts as not refused: to take back a
// grant that the client did read would be worse than to leave it to its ttl.
func refusedByPeer(conn net.Conn) bool {
	for {
		inner, ok := conn.(interface{ NetConn() net.Conn }) // TLS
		if !ok {
			break
		}
		conn = inner.NetConn()
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	deadline := time.Now().Add(goneWithin)
	for pause := time.Millisecond; ; pause *= 2 {
		now := fateUnknown
		if raw.Control(func(fd uintptr) { now = fateOf(int(fd)) }) != nil {
			return false // closed under our hands
		}
		if now != fateUnknown || time.Now().After(deadline) {
			return now == fateRefused
		}
		time.Sleep(pause)
	}
}

// fateOf asks for the error first: once the socket is reset, the count of unacknowledged bytes stands still. In the other order
// "acknowledged, then reset" (read it, then abort) could pass for refused.
func fateOf(fd int) fate {
	failed, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return fateUnknown
	}
	unacked, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	switch {
	case err != nil:
		return fateUnknown
	case unacked == 0:
		return fateAcked
	case failed == int(syscall.EPIPE) || failed == int(syscall.ECONNRESET):
		return fateRefused
	}
	return fateUnknown
}
