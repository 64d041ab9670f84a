package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"redlockd/bench/servers"
)

// program is what a peer needs on this machine, and the Debian package that has it.
type program struct{ name, debian string }

var (
	nutcracker = program{"nutcracker", "nutcracker"}
	etcdServer = program{"etcd", "etcd-server"}
	node       = program{"node", "nodejs"}
	npm        = program{"npm", "npm"}
)

// find looks for a program in PATH, and where Debian puts servers, which is not in everybody's PATH. Empty: it is not there.
func (p program) find() string {
	for _, name := range []string{p.name, "/usr/sbin/" + p.name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// missing says how to get those that are not there; empty if all are.
func missing(programs ...program) string {
	var names, packages []string
	for _, p := range programs {
		if p.find() == "" {
			names, packages = append(names, p.name), append(packages, p.debian)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("no %s on this machine; --install, or apt-get install %s", strings.Join(names, ", "), strings.Join(packages, " "))
}

const (
	aptLimit = 10 * time.Minute
	npmLimit = 2 * time.Minute
)

// install gets what is missing from Debian. What cannot be had is an error, since it was asked for.
func install(stderr io.Writer, programs ...program) error {
	var packages []string
	for _, p := range programs {
		if p.find() == "" {
			packages = append(packages, p.debian)
		}
	}
	if len(packages) == 0 {
		return nil
	}
	fmt.Fprintf(stderr, "installing %s\n", strings.Join(packages, ", "))
	ctx, cancel := context.WithTimeout(context.Background(), aptLimit)
	defer cancel()
	for _, words := range [][]string{
		{"apt-get", "update", "-qq"},
		append([]string{"apt-get", "install", "-y", "-qq", "--no-install-recommends"}, packages...),
	} {
		if os.Geteuid() != 0 {
			words = append([]string{"sudo"}, words...)
		}
		var out bytes.Buffer
		err := servers.Command{
			Path: words[0], Args: words[1:], Env: []string{"DEBIAN_FRONTEND=noninteractive"}, Stdout: &out, Stderr: &out,
		}.Run(ctx)
		if err != nil {
			return fmt.Errorf("--install: %s: %w\n%s", strings.Join(words, " "), err, out.String())
		}
	}
	return nil
}

// installModules gets the packages that redlock/package-lock.json names into redlock/node_modules, unless what is there came from
// this very list.
func installModules(dir string, stderr io.Writer) error {
	dir = filepath.Join(dir, "redlock")
	wanted, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	mark := filepath.Join(dir, "node_modules", ".installed")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, wanted) {
		return nil
	}
	if why := missing(npm); why != "" {
		return errors.New(why)
	}
	fmt.Fprintln(stderr, "installing the packages of redlock for Node.js")
	ctx, cancel := context.WithTimeout(context.Background(), npmLimit)
	defer cancel()
	var out bytes.Buffer
	if err := (servers.Command{
		Path: npm.find(), Args: []string{"ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"}, Dir: dir,
		Stdout: &out, Stderr: &out,
	}).Run(ctx); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, strings.Join(strings.Fields(out.String()), " "))
	}
	return os.WriteFile(mark, wanted, 0o644)
}
