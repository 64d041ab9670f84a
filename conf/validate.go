package conf

import "fmt"

// law is an inequality between two options. The limits of a single option stand in its row of the table.
type law struct {
	small, than, large string
	why                string
}

const (
	below  = "below"
	atMost = "at most"
)

// laws. Not among them, on purpose: round-limit at least twice node-timeout. Between once and twice nothing is unsafe, slow
// rounds are merely granted less often, so that is a warning; at once and below, a vote waited for to the end never counts.
var laws = []law{
	{"node-timeout", below, "round-limit", "a vote that came just in time must still count"},
	{"node-timeout", below, "node-silence", "a slow node must become unknown before its connection is dropped"},
	{"round-limit", atMost, "max-ttl", "no round may take longer than any lock lives"},
	{"round-limit", atMost, "drain-timeout", "rounds in flight must be able to end"},
	{"split-delay", below, "round-limit", "a retry must not wait longer than a whole round may take"},
	{"reconnect-min", atMost, "reconnect-max", "the pause grows from the one to the other"},
	{"max-bulk", below, "max-command", "a command is a bulk and more"},
	{"max-inline", atMost, "max-command", "an inline command is a command"},
	{"script-bytes", atMost, "max-bulk", "a script arrives as one bulk"},
	{"max-key", atMost, "max-bulk", "a key arrives as one bulk"},
	{"max-token", atMost, "max-bulk", "a token arrives as one bulk"},
}

// judge reports every law that is broken, with both numbers. One with a spoilt option is passed over: what stands there
// is not what was meant.
func (l *loader) judge() {
	for _, w := range laws {
		small, large := l.options[w.small], l.options[w.large]
		a, b := small.number(), large.number()
		holds := a < b || w.than == atMost && a == b
		if holds || l.spoilt[w.small] || l.spoilt[w.large] {
			continue
		}
		l.mistake("%s %s must be %s %s %s: %s", w.small, small.show(), w.than, w.large, large.show(), w.why)
	}
}

// warnings tells what works and still deserves a second look.
func warnings(c Config) (w []string) {
	switch n := len(c.Nodes); {
	case n == 0:
		w = append(w, "nodes: none are given, so an embedded demo fleet serves, and its locks die with this process")
	case n == 1:
		w = append(w, "nodes: a single node has no redundancy, and while it is down no lock is granted")
	case n == 2:
		w = append(w, "nodes: 2 nodes survive no failure, for their majority is 2; use 3")
	case n%2 == 0:
		w = append(w, fmt.Sprintf("nodes: %d nodes survive no more failures than %d and split votes more easily; use an odd number", n, n-1))
	}
	seen := map[string]bool{}
	for _, n := range c.Nodes {
		if seen[n.Address] {
			w = append(w, fmt.Sprintf("nodes: %v is on a server that another node is on as well, and they will fail together", n))
		}
		seen[n.Address] = true
	}
	if !loopback(c.Listen) {
		w = append(w, fmt.Sprintf("listen: %s can be reached from other machines, and there is no authentication yet", c.Listen))
	}
	if c.RoundLimit < 2*c.NodeTimeout {
		w = append(w, fmt.Sprintf("round-limit: %s is less than twice node-timeout %s, which leaves a slow round little time for anything but waiting",
			showDuration(c.RoundLimit), showDuration(c.NodeTimeout)))
	}
	return w
}
