package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"redlockd/bench/resp"
	"redlockd/bench/servers"
)

// twemproxyConfig: all that twemproxy can leave out is left out: no ejecting of servers, no timeouts.
const twemproxyConfig = `locks:
  listen: 127.0.0.1:%d
  redis: true
  hash: fnv1a_64
  distribution: ketama
  auto_eject_hosts: false
  preconnect: true
  backlog: 1024
  servers:
%s`

// startTwemproxy starts one over these nodes, each of which then has a share of the keys.
func startTwemproxy(dir, program string, nodes []string) (*servers.Program, error) {
	var list strings.Builder
	for _, addr := range nodes {
		fmt.Fprintf(&list, "   - %s:1\n", addr)
	}
	config := filepath.Join(dir, "nutcracker.yml")
	var writing error
	args := func(port int) []string {
		writing = os.WriteFile(config, fmt.Appendf(nil, twemproxyConfig, port, list.String()), 0o600)
		return []string{"--conf-file", config, "--output", "/dev/stderr", "--pid-file", filepath.Join(dir, "nutcracker.pid"),
			"--stats-addr", "127.0.0.1", "--stats-port", strconv.Itoa(port + 1)} // if that one is taken, it ends, and has others
	}
	p, err := servers.StartProgram(dir, program, args, answers)
	return p, errors.Join(writing, err)
}

// answers: twemproxy answers PING by itself, so a key is asked for.
func answers(addr string) error {
	_, err := resp.Do(addr, answerLimit, "GET", "probe")
	return err
}
