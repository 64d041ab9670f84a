package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

const unknown = "unknown version"

// module is the version of a Go module in this program.
func module(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return unknown
}

// says is the version in the first line that a program prints about itself, whichever way it prints it.
func says(path string, args ...string) string {
	out, err := exec.Command(path, args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return unknown
	}
	for _, prefix := range []string{"This is nutcracker-", "etcd Version: "} {
		line = strings.TrimPrefix(line, prefix)
	}
	return line
}

// packages are the versions of the Node.js packages that redlock/package.json asks for.
func packages(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "redlock", "package.json"))
	var file struct{ Dependencies map[string]string }
	if err != nil || json.Unmarshal(text, &file) != nil {
		return unknown
	}
	return file.Dependencies["redlock"] + ", ioredis " + file.Dependencies["ioredis"]
}
