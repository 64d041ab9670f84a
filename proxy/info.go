package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"redlockd/quorum"
)

// redisVersion is what clients are told when they ask for Redis's. It steers them: below 6
// they do not try RESP3, from 7.2 on they send CLIENT SETINFO, and from 8.4 on DELEX and SET IFEQ,
// which we do not have yet.
const redisVersion = "7.2.0"

func newRunID() string {
	id := make([]byte, 20)
	if _, err := rand.Read(id); err != nil {
		panic("proxy: no randomness: " + err.Error())
	}
	return hex.EncodeToString(id)
}

// info is the text of INFO with those sections, or with all.
func (s *Server) info(sections [][]byte) string {
	var b strings.Builder
	for _, section := range []struct {
		name  string
		write func(*strings.Builder)
	}{
		{"Server", s.infoServer},
		{"Clients", s.infoClients},
		{"Memory", infoMemory},
		{"Stats", s.infoStats},
		{"Replication", infoReplication},
		{"Redlock", s.infoRedlock},
	} {
		wanted := func(word []byte) bool { return isOneOf(word, section.name, "all", "default", "everything") }
		if len(sections) > 0 && !slices.ContainsFunc(sections, wanted) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "# %s\r\n", section.name)
		section.write(&b)
	}
	return b.String()
}

func field(b *strings.Builder, name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }

func (s *Server) infoServer(b *strings.Builder) {
	up := time.Since(s.started)
	field(b, "redis_version", redisVersion)
	field(b, "redlockd_version", s.Version)
	field(b, "redis_mode", "standalone")
	field(b, "os", runtime.GOOS+" "+runtime.GOARCH)
	field(b, "go_version", runtime.Version())
	field(b, "process_id", os.Getpid())
	field(b, "run_id", s.runID)
	field(b, "uptime_in_seconds", int(up.Seconds()))
	field(b, "uptime_in_days", int(up.Hours()/24))
}

func (s *Server) infoClients(b *strings.Builder) {
	field(b, "connected_clients", s.counters().Connections)
	field(b, "maxclients", s.Clients.withDefaults().MaxClients)
	field(b, "blocked_clients", 0)
}

func infoMemory(b *strings.Builder) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	field(b, "used_memory", sample[0].Value.Uint64())
}

func (s *Server) infoStats(b *strings.Builder) {
	c := s.counters()
	field(b, "total_connections_received", c.Accepted)
	field(b, "total_commands_processed", s.commands.Load())
	field(b, "total_batches_processed", s.batches.Load())
	field(b, "rejected_connections", c.Rejected)
	field(b, "protocol_errors", c.ProtocolErrors)
	field(b, "internal_errors", s.panics.Load())
}

func infoReplication(b *strings.Builder) {
	field(b, "role", "master")
	field(b, "connected_slaves", 0)
	field(b, "master_repl_offset", 0)
}

// infoRedlock is about the fleet: a line a node.
func (s *Server) infoRedlock(b *strings.Builder) {
	states := s.Fleet.States()
	up, vouched := 0, 0
	for _, n := range states {
		if n.Health == quorum.Up {
			up++
		}
		if n.Vouched {
			vouched++
		}
	}
	field(b, "nodes", len(states))
	field(b, "nodes_up", up)
	field(b, "nodes_vouched", vouched)
	field(b, "majority", quorum.Majority(len(states)))
	stats := s.Fleet.Stats()
	field(b, "rounds_granted", stats.Granted)
	field(b, "rounds_denied", stats.Denied)
	field(b, "rounds_undecided", stats.Undecided)
	field(b, "rounds_too_late", stats.Late)
	field(b, "splits_retried", stats.Splits)
	field(b, "acceptances_undone", stats.Undone)
	field(b, "nodes_topped_up", stats.ToppedUp)
	field(b, "ttl_clamped", s.clamped.Load())
	now := s.Fleet.Now()
	for i, n := range states {
		field(b, fmt.Sprintf("node%d", i), infoLine(factsOf(n, now)))
	}
}

// infoLine is name=value,name=value. A value has no comma, so that the line can be cut there.
func infoLine(facts []fact) string {
	parts := make([]string, len(facts))
	for i, f := range facts {
		name := f.name
		switch name { // as INFO called them first
		case "health":
			name = "state"
		case "health_since_ms":
			name = "since_ms"
		}
		parts[i] = name + "=" + strings.ReplaceAll(fmt.Sprint(f.value), ",", ";")
	}
	return strings.Join(parts, ",")
}
