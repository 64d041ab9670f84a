package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"redlockd/bench/servers"
)

// peers builds and runs bench/peers, whose go.mod is its own so that no peer enters the product's. It runs where we were
// started, so that the files that flags name are found. Its exit code is ours.
func peers(args []string) int {
	code, err := runPeers(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench peers:", err)
	}
	return code
}

func runPeers(args []string) (code int, err error) {
	const failed = 1
	root, err := servers.ModuleRoot()
	if err != nil {
		return failed, err
	}
	module := filepath.Join(root, "bench", "peers")
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil {
		return failed, fmt.Errorf("the module bench/peers is missing: %w", err)
	}
	dir, err := os.MkdirTemp("", "redlockd-peers-")
	if err != nil {
		return failed, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	binary := filepath.Join(dir, "bench-peers")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir, build.Stdout, build.Stderr = module, os.Stderr, os.Stderr
	if err := build.Run(); err != nil { // Ctrl-C of a terminal reaches it too
		return failed, fmt.Errorf("go build in %s: %w", module, err)
	}
	run := exec.Command(binary, args...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A group of its own and each signal passed on: a Ctrl-C that reached it twice would end it before it has cleaned up.
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		return failed, err
	}
	go func() {
		for s := range signals {
			_ = run.Process.Signal(s)
		}
	}()
	if err := run.Wait(); err != nil && run.ProcessState.ExitCode() <= 0 {
		return failed, err // a signal ended it; otherwise it has said itself what is wrong
	}
	return run.ProcessState.ExitCode(), nil
}
