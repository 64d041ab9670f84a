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

	"redlockd/commands"
	"redlockd/quorum"
)

// redisVersion is what clients are told when they ask for Redis's. It steers them: below 6
// they do not try RESP3, from 7.2 on they send CLIENT SETINFO, and from 8.4 on DELEX and SET IFEQ,
// which we do not have yet.
const redisVersion = "7.2.0"

// msAgo is how long ago the node's last error was; -1 if there was none.
func msAgo(now time.Duration, n quorum.NodeState) int64 {
	if n.Why == "" {
		return -1
	}
	return (now - n.WhyAt).Milliseconds()
}

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
	up := 0
	for _, n := range states {
		if n.Health == quorum.Up {
			up++
		}
	}
	field(b, "nodes", len(states))
	field(b, "nodes_up", up)
	field(b, "majority", quorum.Majority(len(states)))
	stats := s.Fleet.Stats()
	field(b, "rounds_granted", stats.Granted)
	field(b, "rounds_denied", stats.Denied)
	field(b, "rounds_undecided", stats.Undecided)
	field(b, "rounds_too_late", stats.Late)
	field(b, "splits_retried", stats.Splits)
	field(b, "acceptances_undone", stats.Undone)
	field(b, "ttl_clamped", s.clamped.Load())
	now := s.Fleet.Now()
	for i, n := range states {
		fmt.Fprintf(b, "node%d:address=%s,state=%s,since_ms=%d,version=%s,queued=%d,owed=%d,owed_dropped=%d,last_error=%s,last_error_ms_ago=%d\r\n",
			i, n.Name, n.Health, (now - n.Since).Milliseconds(), n.Version, n.Queued, n.Owed, n.Dropped,
			strings.ReplaceAll(commands.OneLine(n.Why), ",", ";"), msAgo(now, n))
	}
}
