package servers

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Program is any other server that listens on a port.
type Program struct {
	Addr string
	proc *process
}

// StartProgram starts a program that is to listen on a free port of 127.0.0.1, in dir, and waits until ready says nil.
// Args makes its arguments for a port. When it ends before it is ready, another port is tried.
func StartProgram(dir, path string, args func(port int) []string, ready func(addr string) error) (*Program, error) {
	var last error
	for range programTries {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		proc, err := launch(dir, nil, path, args(port)...)
		if err != nil {
			return nil, err
		}
		p := &Program{Addr: address(port), proc: proc}
		if last = p.await(ready); last == nil {
			return p, nil
		}
		if err := proc.kill(); err != nil {
			return nil, errors.Join(last, err)
		}
	}
	return nil, last
}

// programTries is how many ports are tried: any failure may be a port that was taken.
const programTries = 3

// await waits until the program is ready.
func (p *Program) await(ready func(addr string) error) error {
	deadline := time.Now().Add(readyLimit)
	for {
		err := ready(p.Addr)
		if p.proc.ended() {
			return fmt.Errorf("%s at %s ended with code %d before it was ready:\n%s", p.proc.name, p.Addr, p.proc.code, p.proc.log.lastLines(20))
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s at %s is not ready after %v: %w\n%s", p.proc.name, p.Addr, readyLimit, err, p.proc.log.lastLines(20))
		}
		time.Sleep(readyPause)
	}
}

// Pid is the process id.
func (p *Program) Pid() int { return p.proc.pid() }

// Log is what the program wrote so far, the last part of it if it is long.
func (p *Program) Log() string { return p.proc.log.String() }

// Close ends it with SIGTERM, and kills it if that takes too long. It may be called again.
func (p *Program) Close() error {
	if err := p.proc.signal(syscall.SIGTERM); errors.Is(err, errEnded) {
		return nil
	}
	if p.proc.wait(stopLimit) {
		return nil
	}
	return p.proc.kill()
}

// FreePort is a port for a program that listens on more than one. Somebody else may take it before the program does.
func FreePort() (int, error) { return freePort() }
