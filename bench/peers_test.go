package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module is a module of one file.
func module(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module other\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The module's program runs where we are, with our arguments, and its exit code is ours. Ctrl-C reaches it once, also when it comes
// to us only, and it has time to clean up.
func TestRunModule(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	program := `package main

import ("fmt"; "os"; "os/signal"; "syscall"; "time")

func main() {
	here, _ := os.Getwd()
	fmt.Println(here, os.Args[1:])
	signals := make(chan os.Signal, 9)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	syscall.Kill(os.Getppid(), syscall.SIGINT)
	<-signals
	time.Sleep(50 * time.Millisecond)
	fmt.Println("cleaned up, and", len(signals), "more")
	os.Exit(130)
}
`
	var out, complaint bytes.Buffer
	code, err := runModule(module(t, program), []string{"--rows", "a b"}, &out, &complaint)
	here, _ := os.Getwd()
	if want := here + " [--rows a b]\ncleaned up, and 0 more\n"; code != 130 || err != nil || out.String() != want {
		t.Errorf("%d, %v, %q, want %q\n%s", code, err, out.String(), want, complaint.String())
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestModulesThatCannotRun(t *testing.T) {
	var out, complaint bytes.Buffer
	if code, err := runModule(t.TempDir(), nil, &out, &complaint); code != failed || err == nil || !strings.Contains(err.Error(), "the module is missing") {
		t.Errorf("%d, %v", code, err)
	}
	code, err := runModule(module(t, "package main\n\nfunc main() { wrong }\n"), nil, &out, &complaint)
	if code != failed || err == nil || !strings.Contains(complaint.String(), "undefined: wrong") {
		t.Errorf("%d, %v, %s", code, err, complaint.String())
	}
	died := "package main\n\nimport \"syscall\"\n\nfunc main() { syscall.Kill(syscall.Getpid(), syscall.SIGKILL); select {} }\n"
	if code, err := runModule(module(t, died), nil, &out, &complaint); code != failed || err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%d, %v", code, err)
	}
}
