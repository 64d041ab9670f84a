package servers

import "syscall"

// childAttr: a group of its own, and dead when we are (package comment).
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
