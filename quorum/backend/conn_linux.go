package backend

import "golang.org/x/sys/unix"

// unread says that the system holds something from the node that we have not read.
func (c *conn) unread() bool {
	held := 0
	if c.raw != nil {
		_ = c.raw.Control(func(fd uintptr) { held, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // 0 if it is closed
	}
	return held > 0
}
