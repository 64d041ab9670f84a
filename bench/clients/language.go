package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"redlockd/bench/servers"
)

// Limits on one language. All of them together have 12 minutes on a fresh machine, so these only bound what hangs.
const (
	installLimit = 6 * time.Minute
	runLimit     = 3 * time.Minute
	maxRows      = 100       // lines of stdout
	maxLine      = 64 << 10  // bytes of one; a failure's text may hold a stack
	maxComplaint = 256 << 10 // bytes kept of stderr; more is dropped
	shownLines   = 40        // of what is kept of stderr
)

// toolchainMissing is the exit code with which install says so.
const toolchainMissing = 3

// result is what became of one language.
type result struct {
	language string // the directory
	rows     []row
	skipped  string // why: the toolchain that is missing
	failed   string // why it could not be run to its end
}

// runLanguage installs and runs one language, and tells stdout what happens as it happens.
func runLanguage(ctx context.Context, dir, address string, stdout io.Writer) result {
	r := result{language: filepath.Base(dir)}
	fmt.Fprintf(stdout, "\n%s\n", r.language)
	started := time.Now()
	complaint, err := program(ctx, installLimit, dir, "install", nil, io.Discard)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == toolchainMissing {
		r.skipped = strings.Join(strings.Fields(complaint), " ")
		fmt.Fprintf(stdout, "  skipped: %s\n", r.skipped)
		return r
	}
	if err != nil {
		return r.fail(stdout, "install", err, complaint)
	}
	fmt.Fprintf(stdout, "  installed in %.1f s\n", time.Since(started).Seconds())

	started = time.Now()
	lines := &lineReader{each: func(line string) error {
		row, err := parseRow(line)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "  %s\n", row)
		r.rows = append(r.rows, row)
		return nil
	}}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return r.fail(stdout, "run", err, "")
	}
	complaint, err = program(ctx, runLimit, dir, "run", []string{"REDLOCKD_HOST=" + host, "REDLOCKD_PORT=" + port}, lines)
	if err = errors.Join(lines.end(), err); err != nil {
		return r.fail(stdout, "run", err, complaint)
	}
	if len(r.rows) == 0 {
		return r.fail(stdout, "run", errors.New("no library was reported"), complaint)
	}
	if r.anyFailed() && complaint != "" {
		fmt.Fprint(stdout, indent(complaint))
	}
	fmt.Fprintf(stdout, "  ran in %.1f s\n", time.Since(started).Seconds())
	return r
}

func (r result) fail(stdout io.Writer, step string, err error, complaint string) result {
	r.failed = fmt.Sprintf("%s: %v", step, err)
	fmt.Fprintf(stdout, "  FAILED: %s\n%s", r.failed, indent(complaint))
	return r
}

func (r result) anyFailed() bool {
	for _, row := range r.rows {
		if row.failures() != nil {
			return true
		}
	}
	return false
}

// program runs one of a language's programs within a limit, and returns what it wrote to stderr.
func program(ctx context.Context, limit time.Duration, dir, name string, env []string, stdout io.Writer) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var complaint capped
	err := servers.Command{
		Path: filepath.Join(dir, name), Dir: dir, Env: env, Stdout: stdout, Stderr: &complaint,
	}.Run(bounded)
	if bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("killed after %v", limit)
	}
	return complaint.String(), err
}

// indent shows the end of what a program wrote to stderr.
func indent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-shownLines):]
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return "    | " + strings.Join(lines, "\n    | ") + "\n"
}

// capped keeps the first maxComplaint bytes.
type capped struct{ bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	c.Buffer.Write(b[:min(len(b), maxComplaint-c.Len())])
	return len(b), nil
}

// lineReader hands on whole lines. The first error stays, and nothing is handed on after it; the program behind it is
// not stopped, so that it can clean up.
type lineReader struct {
	each  func(string) error
	part  []byte
	count int
	err   error
}

func (l *lineReader) Write(b []byte) (int, error) {
	n := len(b)
	for l.err == nil {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if l.part = append(l.part, line...); len(l.part) > maxLine {
			l.err = fmt.Errorf("a line of more than %d bytes", maxLine)
		} else if whole {
			l.one()
		} else {
			break
		}
		b = rest
	}
	return n, nil
}

func (l *lineReader) one() {
	if l.count++; l.count > maxRows {
		l.err = fmt.Errorf("more than %d lines", maxRows)
		return
	}
	l.err = l.each(string(l.part))
	l.part = l.part[:0]
}

// end is called when nothing more comes.
func (l *lineReader) end() error {
	if l.err == nil && len(l.part) > 0 {
		l.one()
	}
	return l.err
}
