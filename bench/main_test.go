package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Whoever reads us may stop reading ("| head"): all is cleaned up nevertheless.
func TestReaderThatGoesAway(t *testing.T) {
	binary, temp := filepath.Join(t.TempDir(), "bench"), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--quick", "--rows", "direct/take/c(1|10)/p1$")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	line, err := bufio.NewReader(reader).ReadString('\n')
	_ = reader.Close()
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("a signal ended it, or it did not see that nobody reads: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
