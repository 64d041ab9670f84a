package servers

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Program is a server that is neither Redis nor redlockd: bench/peers starts those that it compares with. Program
// knows nothing about them but that they are processes.
type Program struct {
	proc *process
	addr string
}

// StartProgram starts a program in dir. It may still fail for a while; Await waits until it is of use. addr is where it was told
// to listen; it is for messages.
func StartProgram(dir, addr, path string, args ...string) (*Program, error) {
	p, err := launch(dir, nil, path, args...)
	if err != nil {
		return nil, err
	}
	return &Program{proc: p, addr: addr}, nil
}

// Await waits until ready gives no error. A program that ends before, or is not ready in time, is an error that shows the end of
// its log; Close is the caller's in each case.
func (p *Program) Await(ready func() error) error {
	var last error
	for deadline := time.Now().Add(readyLimit); time.Now().Before(deadline); time.Sleep(readyPause) {
		if p.proc.ended() {
			return whyEnded(p.proc, p.addr)
		}
		if last = ready(); last == nil {
			return nil
		}
	}
	return fmt.Errorf("%s at %s is not ready after %v: %w\n%s", p.proc.name, p.addr, readyLimit, last, p.proc.log.lastLines(20))
}

// Pid is the process id.
func (p *Program) Pid() int { return p.proc.pid() }

// Log is what it wrote so far, stdout and stderr, the last part of it if it is long.
func (p *Program) Log() string { return p.proc.log.String() }

// Signal sends any signal.
func (p *Program) Signal(sig os.Signal) error { return p.proc.signal(sig) }

// Close ends it with SIGKILL: nothing of a bench is worth an orderly end. It may be called again.
func (p *Program) Close() error { return p.proc.kill() }

// OnFreePorts calls start with n addresses of 127.0.0.1 that nobody listens on at this moment, and again with others when its error
// says that one of them was taken meanwhile (as Await's does). Whatever start leaves behind with such an error is its own to close.
func OnFreePorts(n int, start func(addrs []string) error) error {
	var last error
	for range portTries {
		addrs := make([]string, n)
		for i := range addrs {
			port, err := freePort()
			if err != nil {
				return err
			}
			addrs[i] = address(port)
		}
		if last = start(addrs); !errors.Is(last, errPortTaken) {
			return last
		}
	}
	return fmt.Errorf("gave up after %d tries: %w", portTries, last)
}
