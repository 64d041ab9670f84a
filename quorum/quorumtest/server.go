package quorumtest

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// What a node says of itself and of its connections: INFO, CONFIG, CLIENT.

// field is a line of INFO.
type field struct{ name, value string }

// Say lets INFO answer this value for the field, whatever the truth is, and through restarts. An empty value leaves
// the field out.
func (n *Node) Say(name, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, field{name, value})
}

// Configure sets what CONFIG GET answers. It stands through restarts. INFO follows it where it says the same thing.
func (n *Node) Configure(name, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.config[name] = value
}

// RunID is the run_id of the running instance, or of the next one if none runs.
func (n *Node) RunID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runID
}

// infoCommand answers everything, whatever section was asked for.
func (n *Node) infoCommand(net.Conn, []string) string {
	aof := "0"
	if n.config["appendonly"] == "yes" {
		aof = "1"
	}
	fields := []field{
		{"redis_version", "7.4.0"},
		{"redis_mode", "standalone"},
		{"run_id", n.runID},
		{"maxmemory", "0"},
		{"maxmemory_policy", n.config["maxmemory-policy"]},
		{"loading", "0"},
		{"aof_enabled", aof},
		{"role", "master"},
		{"connected_slaves", "0"},
		{"master_replid2", strings.Repeat("0", 40)},
		{"second_repl_offset", "-1"},
		{"cluster_enabled", "0"},
	}
	if keys, ending := n.store.count(); keys > 0 {
		fields = append(fields, field{"db0", fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", keys, ending)})
	}
	for _, s := range n.said {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == s.name })
		if i < 0 {
			fields = append(fields, s)
		} else {
			fields[i] = s
		}
	}
	var b strings.Builder
	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(&b, "%s:%s\r\n", f.name, f.value)
		}
	}
	return bulkReply(b.String())
}

// configCommand is CONFIG GET with names or patterns.
func (n *Node) configCommand(_ net.Conn, args []string) string {
	if !strings.EqualFold(args[1], "GET") {
		return errorReply("ERR unknown subcommand '" + args[1] + "'")
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(n.config)) {
		if slices.ContainsFunc(args[2:], func(p string) bool { return match(strings.ToLower(p), name) }) {
			pairs = append(pairs, name, n.config[name])
		}
	}
	return bulks(pairs)
}

// clientCommand is CLIENT ID, CLIENT KILL ID and CLIENT SETNAME.
func (n *Node) clientCommand(c net.Conn, args []string) string {
	switch sub := strings.ToUpper(args[1]); {
	case sub == "ID":
		return intReply(n.conns[c])
	case sub == "SETNAME" && len(args) == 3:
		return okReply
	case sub == "KILL" && len(args) == 4 && strings.EqualFold(args[2], "ID"):
		for other, id := range n.conns {
			if strconv.FormatInt(id, 10) == args[3] {
				delete(n.conns, other)
				other.Close()
				return intReply(1)
			}
		}
		return intReply(0)
	default:
		return errorReply("ERR unknown subcommand or wrong number of arguments for '" + args[1] + "'")
	}
}
