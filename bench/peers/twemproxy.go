package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"redlockd/bench/resp"
	"redlockd/bench/servers"
)

// twemproxyConfig: all that twemproxy can leave out is left out: no ejecting of servers, no timeouts.
const twemproxyConfig = `locks:
  listen: %s
  redis: true
  hash: fnv1a_64
  distribution: ketama
  auto_eject_hosts: false
  preconnect: true
  backlog: 1024
  servers:
%s`

// startTwemproxy starts one over these nodes, each of which then has a share of the keys.
func startTwemproxy(dir, program string, nodes []*servers.Redis) (addr string, p *servers.Program, err error) {
	var list strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&list, "   - %s:1\n", n.Addr)
	}
	err = servers.OnFreePorts(2, func(addrs []string) error {
		addr = addrs[0]
		stats := addrs[1][strings.LastIndexByte(addrs[1], ':')+1:]
		config := filepath.Join(dir, "nutcracker-"+stats+".yml")
		if err := os.WriteFile(config, fmt.Appendf(nil, twemproxyConfig, addr, list.String()), 0o600); err != nil {
			return err
		}
		if p, err = servers.StartProgram(dir, addr, program, "--conf-file", config, "--verbose", "4", "--output", "/dev/stderr",
			"--stats-addr", "127.0.0.1", "--stats-port", stats, "--pid-file", filepath.Join(dir, "nutcracker-"+stats+".pid")); err != nil {
			return err
		}
		if err := p.Await(func() error { return answers(addr) }); err != nil {
			return errors.Join(err, p.Close())
		}
		return nil
	})
	return addr, p, err
}

// answers: twemproxy answers PING by itself, so a key is asked for.
func answers(addr string) error {
	_, err := resp.Do(addr, answerLimit, "GET", "probe")
	return err
}
