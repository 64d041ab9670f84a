// Command peers is bench with the peers of redlockd in it: what else locks over Redis, each measured beside redlockd in one run,
// in the same rows, by the same engine (bench/measure). It is a module of its own, so that no peer enters the product's go.mod.
//
//	go run ./bench peers                     from the top of the repository
//	go run . --help                          from here
//	go run ./bench peers --install           first gets what is missing from Debian: twemproxy, etcd, Node.js
//
// A peer that this machine does not have is left out, and the report says so, and how to get it.
//
//	peers.go        the peers, and which rows of each are measured
//	redsync.go      redsync, over redigo and over go-redis
//	rueidislock.go  rueidislock, over one Redis
//	redlock.go      redlock for Node.js, whose program is in redlock/
//	twemproxy.go    twemproxy, before one Redis
//	etcd.go         the lock of etcd's client over three members
//	samples.go      do the locks that were counted really stand?
//	install.go      what must be on this machine
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"redlockd/bench/measure"
)

func main() { os.Exit(command(os.Stderr).Main()) }

// command is bench with all peers. What is said while they are prepared goes to stderr.
func command(stderr io.Writer) measure.Command {
	var get *bool
	return measure.Command{
		Name: "go run ./bench peers",
		Flags: func(fs *flag.FlagSet) {
			get = fs.Bool("install", false, "first install from Debian what the peers need and is missing (as root, or by sudo)")
		},
		Peers: func() ([]measure.Peer, error) {
			if *get {
				if err := install(stderr, nutcracker, etcdServer, node, npm); err != nil {
					return nil, err
				}
			}
			list, err := peers(stderr)
			for _, p := range list { // now, and not only in the report
				if p.Missing != "" {
					fmt.Fprintf(stderr, "left out: %s: %s\n", p.Label, p.Missing)
				}
			}
			return list, err
		},
	}
}
