package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockd/quorum"
)

// redisVersion is what clients are told when they ask for Redis's, in HELLO and INFO. It steers them.
//
// From 6 on they try RESP3 (below 6 rueidis and others do not), and from 7.2 on Redis knows CLIENT SETINFO, NO-TOUCH and WAITAOF,
// which we answer. Lower would make clients of today do without what works.
//
// From 8.4 on StackExchange.Redis, and so Hangfire and Foundatio, release by DELEX IFEQ and extend by SET IFEQ; below, by
// WATCH, GET, MULTI, DEL or PEXPIRE, EXEC. Both are carried out as the same atomic compare on every node, and are equally safe;
// WATCH costs a round more. Everybody else who wants DELEX or SET IFEQ does not ask for the version: spring-integration tries them and
// falls back, go-redis, redis-py, Jedis, Lettuce and rueidis send what their caller says. But a client that believes in 8.4 may also
// send DIGEST, IFDEQ, MSETEX XX, or the fields of hashes that expire since 7.4, all of which we refuse. So the version is the
// newest whose promises about strings and connections we keep, and what is newer works for whoever tries.
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
		{"Persistence", infoPersistence},
		{"Stats", s.infoStats},
		{"Replication", s.infoReplication},
		{"Modules", func(*strings.Builder) {}},
		{"Cluster", infoCluster},
		{"Keyspace", func(*strings.Builder) {}},
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

// port of the first listener that has one.
func (s *Server) port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guards {
		if a, ok := g.Addr().(*net.TCPAddr); ok {
			return a.Port
		}
	}
	return 0
}

func field(b *strings.Builder, name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }

func (s *Server) infoServer(b *strings.Builder) {
	up := time.Since(s.started)
	field(b, "redis_version", redisVersion)
	field(b, "redlockd_version", s.Version)
	field(b, "redis_mode", "standalone")
	field(b, "os", runtime.GOOS+" "+runtime.GOARCH)
	field(b, "arch_bits", strconv.IntSize)
	field(b, "go_version", runtime.Version())
	field(b, "process_id", os.Getpid())
	field(b, "run_id", s.runID)
	field(b, "tcp_port", s.port())
	field(b, "server_time_usec", time.Now().UnixMicro())
	field(b, "uptime_in_seconds", int(up.Seconds()))
	field(b, "uptime_in_days", int(up.Hours()/24))
}

func (s *Server) infoClients(b *strings.Builder) {
	field(b, "connected_clients", s.counters().Connections)
	field(b, "maxclients", s.Clients.withDefaults().MaxClients)
	field(b, "blocked_clients", 0)
	field(b, "tracking_clients", 0)
}

func infoMemory(b *strings.Builder) {
	used := usedMemory()
	field(b, "used_memory", used)
	field(b, "used_memory_human", fmt.Sprintf("%.2fM", float64(used)/(1<<20)))
	field(b, "maxmemory", 0)
	field(b, "maxmemory_policy", "noeviction")
}

// infoPersistence: some clients begin only when nothing is loading.
func infoPersistence(b *strings.Builder) {
	field(b, "loading", 0)
	field(b, "async_loading", 0)
	field(b, "rdb_bgsave_in_progress", 0)
	field(b, "aof_enabled", 0)
}

func infoCluster(b *strings.Builder) { field(b, "cluster_enabled", 0) }

func (s *Server) infoStats(b *strings.Builder) {
	c := s.counters()
	field(b, "total_connections_received", c.Accepted)
	field(b, "total_commands_processed", s.commands.Load())
	field(b, "total_batches_processed", s.batches.Load())
	field(b, "rejected_connections", c.Rejected)
	field(b, "pubsub_channels", s.hub.size(channelTopic))
	field(b, "pubsub_patterns", s.hub.size(patternTopic))
	field(b, "pubsubshard_channels", s.hub.size(shardTopic))
	field(b, "protocol_errors", c.ProtocolErrors)
	field(b, "internal_errors", s.panics.Load())
}

func (s *Server) infoReplication(b *strings.Builder) {
	field(b, "role", "master")
	field(b, "connected_slaves", 0)
	field(b, "master_failover_state", "no-failover")
	field(b, "master_replid", s.runID)
	field(b, "master_replid2", strings.Repeat("0", len(s.runID)))
	field(b, "master_repl_offset", 0)
	field(b, "second_repl_offset", -1)
	field(b, "repl_backlog_active", 0)
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
