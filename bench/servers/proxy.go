package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// stopLimit is how long Close waits after SIGTERM before it kills. redlockd promises a bounded end; a test that wants
// to hold it to that uses Signal and Wait.
const stopLimit = 5 * time.Second

// Proxy is one redlockd process.
type Proxy struct {
	Addr string
	proc *process
}

// BuildRedlockd builds the product from its module root, whatever the current directory is, and returns the path of
// the binary in dir. Flags are go build's: BuildRedlockd(dir, "-race").
func BuildRedlockd(dir string, flags ...string) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, "redlockd"))
	if err != nil {
		return "", err
	}
	args := append([]string{"build", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "redlockd")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build redlockd in %s: %w\n%s", root, err, strings.TrimSpace(string(out)))
	}
	return path, nil
}

// ModuleRoot finds the directory of our go.mod: above this source file, or above the current directory when the
// binary was built with -trimpath or carried elsewhere.
func ModuleRoot() (string, error) {
	var from []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		from = append(from, filepath.Dir(file))
	}
	if dir, err := os.Getwd(); err == nil {
		from = append(from, dir)
	}
	for _, dir := range from {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && isOurModule(string(text)) {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("no go.mod of module redlockd above any of %s", strings.Join(from, ", "))
}

func isOurModule(gomod string) bool {
	for line := range strings.Lines(gomod) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			return f[1] == "redlockd"
		}
	}
	return false
}

// StartRedlockd starts the binary on a free port (--listen is ours) and waits until it answers PING. That says nothing
// about its nodes: redlockd answers also while they are down.
func StartRedlockd(path string, args ...string) (*Proxy, error) {
	port, proc, err := onFreePort(func(port int) (*process, error) {
		return launch("", nil, path, append([]string{"--listen", address(port)}, args...)...)
	})
	if err != nil {
		return nil, err
	}
	return &Proxy{Addr: address(port), proc: proc}, nil
}

// Pid is the process id.
func (p *Proxy) Pid() int { return p.proc.pid() }

// Log is what redlockd wrote so far, stdout and stderr, the last part of it if it is long.
func (p *Proxy) Log() string { return p.proc.log.String() }

// Signal sends any signal.
func (p *Proxy) Signal(sig os.Signal) error { return p.proc.signal(sig) }

// Done is closed once the process has ended.
func (p *Proxy) Done() <-chan struct{} { return p.proc.done }

// Wait waits for the process to end by itself and returns its exit code, -1 when a signal ended it.
func (p *Proxy) Wait(limit time.Duration) (int, error) {
	if !p.proc.wait(limit) {
		return 0, fmt.Errorf("redlockd at %s still runs after %v", p.Addr, limit)
	}
	return p.proc.code, nil
}

// Kill ends it with SIGKILL and waits for it to be gone. A second Kill does nothing.
func (p *Proxy) Kill() error { return p.proc.kill() }

// Close ends it as an operator would (SIGTERM), and kills it if that takes too long or it is paused. It may be called again.
func (p *Proxy) Close() error {
	if err := p.Signal(syscall.SIGTERM); errors.Is(err, errEnded) {
		return nil
	}
	_ = p.Signal(syscall.SIGCONT) // a paused process sees SIGTERM only once it goes on
	if p.proc.wait(stopLimit) {
		return nil
	}
	return errors.Join(fmt.Errorf("redlockd at %s did not end within %v of SIGTERM", p.Addr, stopLimit), p.Kill())
}
