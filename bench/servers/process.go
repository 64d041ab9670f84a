// Package servers starts and stops the real processes that bench and the end-to-end tests work against: redis-server
// and redlockd, each on a free port of 127.0.0.1.
//
// It promises that no child outlives the process that started it, however that one ends:
//
//   - It returns or panics in a test: Close. It kills, and that works on a stopped (SIGSTOP) child too.
//   - It is killed, or exits without cleaning up: the kernel sends the child SIGKILL (Linux, Pdeathsig).
//
// Pdeathsig has a trap: the signal comes when the *thread* that forked ends, not the process. The Go runtime may end
// a thread early when a goroutine that is locked to it returns. So each child is started and waited for by a
// goroutine of its own that is locked to its thread meanwhile: the thread lives exactly as long as the child, it
// would sleep in wait4 anyway, and no goroutine is left over when the child has ended (goleak sees none).
//
// The tests also need servers that forget, lose their place, or have a wrong clock: Restart, Remove, Forward and
// StartRedisWithClock.
//
// Each child is a process group of its own, so that Ctrl-C in a terminal reaches bench only, and bench decides in which
// order to stop things.
package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// killLimit is how long a process may take to be gone after SIGKILL. It only has to bound a broken kernel.
const killLimit = 10 * time.Second

// errEnded is what signalling a process that has ended gives.
var errEnded = errors.New("the process has ended")

// process is one child. Its log is what it wrote to stdout and stderr.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *tail
	done chan struct{} // closed once the child was waited for; then code may be read
	code int           // exit code, -1 after a signal
}

// launch starts a child, with env besides our own environment. Only the fork itself can fail here; whether the child is
// of use, ready says.
func launch(dir string, env []string, path string, args ...string) (*process, error) {
	p := &process{
		name: path,
		cmd:  exec.Command(path, args...),
		log:  new(tail),
		done: make(chan struct{}),
	}
	p.cmd.Dir = dir
	if len(env) > 0 {
		p.cmd.Env = append(os.Environ(), env...)
	}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = childAttr()
	// A grandchild that kept our pipe open would otherwise hold up Wait for ever.
	p.cmd.WaitDelay = time.Second
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// run is the child's whole life, on one thread (package comment).
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // a non-zero exit is not our error; the code is kept
	p.code = p.cmd.ProcessState.ExitCode()
	sweepFaketime(p.pid())
	close(p.done)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// ended says whether the child was waited for.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for the end; false when the child is still there after the limit.
func (p *process) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

func (p *process) signal(sig os.Signal) error {
	if p.ended() {
		return fmt.Errorf("%v to %s: %w", sig, p.name, errEnded)
	}
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("%v to %s: %w", sig, p.name, err)
	}
	return nil
}

// kill ends the child, in whatever state it is. Killing what has ended is no error.
func (p *process) kill() error {
	if p.ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	if !p.wait(killLimit) {
		return fmt.Errorf("%s (pid %d) is still there %v after SIGKILL", p.name, p.pid(), killLimit)
	}
	return nil
}

// tail keeps the last output of a child. Limit: twice logLimit bytes, so that a server in an error loop does not eat our memory.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// logLimit leaves room for several reports of the race detector, the longest thing anybody looks for in here.
const logLimit = 256 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*logLimit { // cut rarely, not with every line
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-logLimit:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf[max(0, len(t.buf)-logLimit):])
}

// lastLines is for error messages: the end of the log says why a server did not start.
func (t *tail) lastLines(n int) string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
