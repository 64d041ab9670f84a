//go:build unix && !linux

package servers

import "syscall"

// childAttr: without Pdeathsig, children outlive a parent that is killed with SIGKILL. Close still ends them.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
