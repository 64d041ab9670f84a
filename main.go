// Redlockd is a lock proxy that speaks the Redis protocol: each lock that a client takes on
// it is a quorum lock (Redlock) over N independent Redis or Valkey masters.
//
// main introduces the packages to each other: conf the numbers, quorum/backend the nodes'
// sockets, quorum the verdicts, proxy the clients' sockets.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"redlockd/commands"
	"redlockd/conf"
	"redlockd/proxy"
	"redlockd/quorum"
	"redlockd/quorum/backend"
	"redlockd/quorum/backend/demo"
)

// version is set by the release build.
var version = "0.1.0-dev"

// demoNodes is the size of the embedded fleet: the N of the classic algorithm.
const demoNodes = 5

func main() {
	// The heap is small and the garbage is much: collecting it less often costs a few tens of
	// megabytes and saves a tenth of the processor. GOGC still wins.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run returns the exit status: 0 after a clean end, 1 if it could not work, 2 if it was
// asked wrongly.
func run(ctx context.Context, args, environ []string, out, diag io.Writer) int {
	config, err := conf.Load(args, environ)
	switch {
	case config.Help:
		fmt.Fprint(out, conf.Usage())
		return 0
	case err != nil:
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(diag, "redlockd: %s\n", strings.TrimRight(line, "\n"))
		}
		fmt.Fprintln(diag, "redlockd: see redlockd --help")
		return 2
	case config.Version:
		fmt.Fprintf(out, "redlockd %s\n", version)
		return 0
	}
	if config.Check {
		for _, w := range config.Warnings {
			fmt.Fprintf(diag, "redlockd: warning: %s\n", w)
		}
		fmt.Fprintln(out, "redlockd: the configuration is valid")
		return check(ctx, config, out)
	}
	if err := serve(ctx, config, out, diag); err != nil {
		fmt.Fprintf(diag, "redlockd: %v\n", err)
		return 1
	}
	return 0
}

// networkOf keeps an IPv4 address from being listened on for IPv6 as well, as Go would for 0.0.0.0.
func networkOf(address string) string {
	if a, err := netip.ParseAddrPort(address); err == nil && a.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

func logger(config conf.Config, out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: config.LogLevel}
	if config.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// patientLog hands lines to a writer that may block: a terminal that was stopped, a pipe that nobody reads. Locks must
// not wait for it, so that lines beyond a few thousand are dropped.
type patientLog struct {
	lines chan []byte
	done  chan struct{}
}

func newPatientLog(out io.Writer) *patientLog {
	l := &patientLog{lines: make(chan []byte, 4096), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := <-l.lines; line != nil; line = <-l.lines {
			_, _ = out.Write(line) // there is nobody left to tell
		}
	}()
	return l
}

// Write implements io.Writer.
func (l *patientLog) Write(line []byte) (int, error) {
	select {
	case l.lines <- slices.Clone(line):
	default:
	}
	return len(line), nil
}

// finish waits a moment until what was written before has been handed on.
func (l *patientLog) finish() {
	limit := time.After(time.Second)
	select {
	case l.lines <- nil:
	case <-limit:
		return
	}
	select {
	case <-l.done:
	case <-limit:
	}
}

// serve until ctx is done, then drain.
func serve(ctx context.Context, config conf.Config, out, diag io.Writer) error {
	ln, err := net.Listen(networkOf(config.Listen), config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer ln.Close()
	if len(config.Nodes) == 0 {
		fleet, err := demo.Start(demoNodes)
		if err != nil {
			return err
		}
		defer fleet.Close()
		config.Nodes = nodesAt(fleet.Addresses())
		greet(out, ln.Addr(), fleet.Addresses())
		config.LogLevel = max(config.LogLevel, slog.LevelWarn) // the greeting is all there is to say
		config.Warnings = nil
	}
	lines := newPatientLog(diag)
	defer lines.finish()
	log := logger(config, lines)
	for _, w := range config.Warnings {
		log.Warn(w)
	}
	log.Info("redlockd is listening", "version", version, "address", ln.Addr().String(), "nodes", len(config.Nodes))

	pipes := open(config, dialNode, backend.Clock, log)
	server := proxy.New(options(config, pipes, backend.Clock, log))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		log.Info("draining", "limit", config.DrainTimeout.String())
		limit, cancel := context.WithTimeout(context.Background(), config.DrainTimeout)
		defer cancel()
		server.Shutdown(limit)
		closeAll(limit, pipes)
		err = <-served
	}
	log.Info("redlockd has ended")
	return err
}

// greet is what somebody sees who has only started it.
func greet(out io.Writer, address net.Addr, nodes []string) {
	_, port, _ := net.SplitHostPort(address.String())
	fmt.Fprintf(out, "redlockd %s on %s: a demo over %d embedded nodes (%s). Its locks end with it.\n",
		version, address, len(nodes), strings.Join(nodes, " "))
	fmt.Fprintf(out, "Try it:       redis-cli -p %s SET mylock mytoken NX PX 30000\n", port)
	fmt.Fprintln(out, "With nodes:   redlockd --nodes 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379   (see --help)")
}

func nodesAt(addresses []string) []conf.Node {
	nodes := make([]conf.Node, len(addresses))
	for i, a := range addresses {
		nodes[i] = conf.Node{Network: "tcp", Address: a}
	}
	return nodes
}

// dial connects to a node; clock is what rounds are judged by.
type (
	dial  = func(ctx context.Context, network, address string) (net.Conn, error)
	clock = func() time.Duration
)

func dialNode(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{KeepAlive: 15 * time.Second}
	return d.DialContext(ctx, network, address)
}

// open a pipe to every node. It does not wait for them.
func open(config conf.Config, dial dial, clock clock, log *slog.Logger) []*backend.Pipe {
	return backend.Open(nodeOptions(config, dial, clock, log)...)
}

func nodeOptions(config conf.Config, dial dial, clock clock, log *slog.Logger) []backend.Options {
	all := make([]backend.Options, len(config.Nodes))
	for i, n := range config.Nodes {
		all[i] = backend.Options{
			Network: n.Network, Address: n.Address,
			Username: n.Username, Password: n.Password, DB: n.DB,
			Name: n.String(),
			Patience: quorum.Patience{
				Timeout: config.NodeTimeout, Limit: config.RoundLimit, Silence: config.NodeSilence,
			},
			DialTimeout:  config.DialTimeout,
			ReconnectMin: config.ReconnectMin,
			ReconnectMax: config.ReconnectMax,
			Queue:        config.PipeQueue,
			Owed:         config.OwedPerNode,
			MaxLife:      quorum.Pad(config.MaxTTL),
			Tolerance:    config.ClockTolerance,
			Dial:         dial,
			Clock:        clock,
			Wall:         time.Now,
			Log:          log,
		}
	}
	return all
}

// closeAll waits until the nodes have been told what they were owed, but not longer than ctx.
func closeAll(ctx context.Context, pipes []*backend.Pipe) {
	var wait sync.WaitGroup
	for _, p := range pipes {
		wait.Go(func() { p.Close(ctx) })
	}
	wait.Wait()
}

func options(config conf.Config, pipes []*backend.Pipe, clock clock, log *slog.Logger) proxy.Options {
	nodes := make([]quorum.Node, len(pipes))
	for i, p := range pipes {
		nodes[i] = p
	}
	rules := quorum.Rules{
		MaxTTL: config.MaxTTL, RoundLimit: config.RoundLimit,
		SplitRetries: config.SplitRetries, SplitDelay: config.SplitDelay, InFlight: config.RoundsInFlight,
	}
	return proxy.Options{
		Fleet:   quorum.NewFleet(nodes, rules, clock, rand.Float64, backend.Encode),
		Scripts: commands.NewScripts(config.Scripts, config.ScriptBytes),
		Locks: proxy.LockRules{
			MaxTTL: config.MaxTTL, RefuseOverTTL: config.OverTTL == conf.Refuse, PadTTL: config.PadTTL,
			MaxKey: config.MaxKey, MaxToken: config.MaxToken,
		},
		Clients: proxy.Limits{
			MaxArgs: config.MaxArgs, MaxBulk: config.MaxBulk, MaxInline: config.MaxInline,
			MaxCommand: config.MaxCommand, MaxPipeline: config.MaxPipeline, MaxClients: config.MaxClients,
			Idle: config.IdleTimeout, Command: config.CommandTimeout, Write: config.WriteTimeout,
		},
		Version: version,
		Log:     log,
	}
}
