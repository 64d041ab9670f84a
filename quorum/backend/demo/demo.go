// Package demo is a fleet of nodes inside this process, so that redlockd can be tried with
// nothing else installed. Its locks are gone with the process.
package demo

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"redlockd/quorum"
)

// Fleet of embedded nodes on loopback.
type Fleet []*miniredis.Miniredis

// Start n nodes, each on a free port.
func Start(n int) (Fleet, error) {
	var fleet Fleet
	for range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true) // keys expire by the clock, not only when a test says so
		if err := m.StartAddr("127.0.0.1:0"); err != nil {
			fleet.Close()
			return nil, fmt.Errorf("embedded node: %w", err)
		}
		fleet = append(fleet, m)
		if err := vouch(m); err != nil {
			fleet.Close()
			return nil, fmt.Errorf("embedded node: %w", err)
		}
	}
	return fleet, nil
}

// vouch for a node at once: it has just been made, and nobody else knows of it, so that there is nothing that it could
// have forgotten. What miniredis does not say of itself and of its connections is said here.
func vouch(m *miniredis.Miniredis) error {
	runID := strings.ToLower(rand.Text())
	info := "redis_version:7.2.0\r\nserver_name:miniredis\r\nredis_mode:standalone\r\nrun_id:" + runID +
		"\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n"
	var connections atomic.Int64
	m.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		switch {
		case strings.EqualFold(cmd, "INFO"):
			c.WriteBulk(info)
		case strings.EqualFold(cmd, "CLIENT") && len(args) > 0 && strings.EqualFold(args[0], "ID"):
			c.WriteInt(int(connections.Add(1)))
		case strings.EqualFold(cmd, "CLIENT") && len(args) > 0 && strings.EqualFold(args[0], "KILL"):
			c.WriteInt(0) // no connection of ours outlives its use within one process
		default:
			return false
		}
		return true
	})
	return m.Set(quorum.MarkKey, quorum.Mark{RunID: runID, Nonce: "demo"}.String())
}

// Addresses of the nodes, host:port.
func (f Fleet) Addresses() []string {
	addresses := make([]string, len(f))
	for i, m := range f {
		addresses[i] = m.Addr()
	}
	return addresses
}

// Close stops all nodes. Their keys are gone.
func (f Fleet) Close() {
	for _, m := range f {
		m.Close()
	}
}
