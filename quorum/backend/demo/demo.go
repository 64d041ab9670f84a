// Package demo is a fleet of nodes inside this process, so that redlockd can be tried with
// nothing else installed. Its locks are gone with the process.
package demo

import (
	"fmt"

	"github.com/alicebob/miniredis/v2"
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
	}
	return fleet, nil
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
