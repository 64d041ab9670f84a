package servers

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is something that is carried out to its end, and that may start processes of its own.
type Command struct {
	Path           string
	Args           []string
	Dir            string
	Env            []string // besides our own environment
	Stdout, Stderr io.Writer
}

// Run carries it out. When ctx ends, it is killed with everything it has started, and what it leaves running is killed
// when it ends (what leaves its process group is not reached). An exit code other than 0 is an *exec.ExitError.
func (c Command) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, c.Stdout, c.Stderr
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.SysProcAttr = childAttr()
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	cmd.WaitDelay = time.Second // as in launch
	ended := make(chan error)
	go func() { // on one thread, as process.run (package comment)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Run()
		if cmd.Process != nil {
			_ = group() // an error: nothing was left
		}
		ended <- err
	}()
	if err := <-ended; !errors.Is(err, exec.ErrWaitDelay) { // it went well, but left something that holds our pipes
		return err
	}
	return nil
}
