//go:build unix

package backend

import "syscall"

const canAttempt = true

// attempt one write to a socket that does not block, and say how much the system took.
func attempt(fd int, p []byte) int {
	n, _ := syscall.Write(fd, p)
	return max(n, 0)
}
