package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"redlockd/bench/servers"
)

// failed is our exit code where the module has none to give.
const failed = 1

// peers runs bench/peers, whose go.mod is its own so that no peer enters the product's. Its exit code is ours.
func peers(args []string) int {
	root, err := servers.ModuleRoot()
	code := failed
	if err == nil {
		code, err = runModule(filepath.Join(root, "bench", "peers"), args, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench peers:", err)
	}
	return code
}

// runModule builds the program of a module and runs it where we were started, so that the files that flags name are found.
func runModule(module string, args []string, stdout, stderr io.Writer) (code int, err error) {
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil {
		return failed, fmt.Errorf("the module is missing: %w", err)
	}
	dir, err := os.MkdirTemp("", "redlockd-peers-")
	if err != nil {
		return failed, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	binary := filepath.Join(dir, filepath.Base(module))
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir, build.Stdout, build.Stderr = module, stderr, stderr
	if err := build.Run(); err != nil { // Ctrl-C of a terminal reaches it too
		return failed, fmt.Errorf("go build in %s: %w", module, err)
	}
	run := exec.Command(binary, args...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, stdout, stderr
	// A group of its own and each signal passed on: a Ctrl-C that reached it twice would end it before it has cleaned up.
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		return failed, err
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				_ = run.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	err = run.Wait()
	close(ended)
	if err != nil && run.ProcessState.ExitCode() <= 0 {
		return failed, err // a signal ended it; otherwise it has said itself what is wrong
	}
	return run.ProcessState.ExitCode(), nil
}
