package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockd/quorum"
	"redlockd/quorum/quorumtest"
)

// machine is a node: the memory, the clock and the scripts are quorumtest's, the rest is here.
type machine struct {
	*world
	name     string
	node     *quorumtest.Node
	up       bool
	hung     bool
	cutOff   map[*process]bool // who cannot reach it
	slow     time.Duration     // more on every way there and back
	always   bool              // appendfsync always: it forgets nothing
	sockets  []*socket         // that it knows
	waiting  []work            // what has come while it hung, in order
	latest   int               // the number of the latest connection
	forgotAt time.Duration     // when it lost its memory last
	back     time.Duration     // by how much its clock was ever set back, which makes keys live longer
	setBy    map[string]int    // by which attempt the key there was set; 0: unknown
}

// work is what came over one socket in one flush.
type work struct {
	socket *socket
	batch  batch
}

// epoch of the simulation. Nodes' clocks show time since 1970.
var epoch = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func newMachine(w *world, i int) *machine {
	m := &machine{world: w, name: fmt.Sprintf("node %d", i), up: true, cutOff: map[*process]bool{}, setBy: map[string]int{}}
	lives := 0
	m.node = quorumtest.NewNodeAt(func() time.Time { return epoch.Add(w.now) }, func() string {
		lives++
		return fmt.Sprintf("run%d.%d", i, lives)
	})
	for _, s := range said.Scripts() {
		m.node.Do([]string{"SCRIPT", "LOAD", s})
	}
	m.node.Do([]string{"SET", quorum.MarkKey, quorum.Mark{RunID: m.node.RunID(), Nonce: "first"}.String()})
	m.node.Save()
	return m
}

// vouched says whether somebody has vouched for the instance that runs, whatever anybody knows of that.
func (m *machine) vouched() bool {
	mark, _ := m.node.Value(quorum.MarkKey)
	return quorum.ParseMark(mark).RunID == m.node.RunID()
}

// arrive is a flush that has come over the socket.
func (m *machine) arrive(s *socket, b batch) {
	switch {
	case !s.known:
	case m.hung:
		m.waiting = append(m.waiting, work{s, b})
	default:
		s.queue = append(s.queue, b)
		m.serve(s)
	}
}

// serve what has come over the socket: all commands of a flush at once, or, where the network has cut it into pieces, one by one.
func (m *machine) serve(s *socket) {
	if s.busy {
		return
	}
	for len(s.queue) > 0 && s.known {
		b := &s.queue[0]
		if len(b.replies) == 0 && len(b.orders) > 1 && m.faulty() && m.maybe(m.mix.pieces) {
			b.inPieces = true
		}
		if len(b.replies) == 0 && b.orders[0].req != nil && b.orders[0].req.Op == quorum.Take &&
			m.betray(m, m.mix.struckAtTake, "has a take before it") {
			b.inPieces = true
		}
		for len(b.replies) < len(b.orders) {
			b.replies = append(b.replies, m.carryOut(s, b.orders[len(b.replies)]))
			if b.inPieces && len(b.replies) < len(b.orders) {
				s.busy = true
				m.after(m.about(m.mix.pieceGap), func() {
					s.busy = false
					if m.hung {
						m.waiting = append(m.waiting, work{s, batch{}}) // goes on then
						return
					}
					m.serve(s)
				})
				return
			}
		}
		done := *b
		s.queue = s.queue[1:]
		s.answer(done)
	}
}

// carryOut one command.
func (m *machine) carryOut(s *socket, o order) any {
	switch o.words[0] {
	case "WHO": // of INFO and CLIENT ID
		m.latest++
		s.id = m.latest
		return []any{[]byte(m.node.RunID()), int64(s.id)}
	case "KILL": // CLIENT KILL ID
		id, _ := strconv.Atoi(o.words[1])
		for _, other := range m.sockets {
			if other.id == id && other != s {
				other.forgotten()
				return int64(1)
			}
		}
		return int64(0)
	}
	m.check.before(m, o)
	reply := parse(m.node.Do(o.words))
	m.check.carriedOut(m, o, reply)
	if m.tracing() && o.words[0] != "TIME" && !(o.words[0] == "GET" && o.words[1] == quorum.MarkKey) {
		m.say(m.name, "carries out %s of %s: %s", o.what(), s.owner.name, shown(reply))
	}
	return reply
}

// hang for d.
func (m *machine) hang(d time.Duration) {
	if m.hung || !m.up {
		return
	}
	m.hung = true
	m.say(m.name, "hangs for %v", d)
	m.after(d, m.resume)
}

func (m *machine) resume() {
	if !m.hung {
		return
	}
	m.hung = false
	m.say(m.name, "goes on")
	waiting := m.waiting
	m.waiting = nil
	for _, k := range waiting {
		if !k.socket.known {
			continue
		}
		if len(k.batch.orders) > 0 {
			k.socket.queue = append(k.socket.queue, k.batch)
		}
		m.serve(k.socket)
	}
}

// memory is what a node has after a restart.
type memory string

const (
	nothing  memory = "nothing"
	snapshot memory = "an old snapshot"
	complete memory = "all it had"
)

// restart the node; it is away for d.
func (m *machine) restart(d time.Duration, with memory) {
	if !m.up {
		return
	}
	if m.always {
		with = complete
	}
	m.say(m.name, "stops, and starts in %v with %s", d, with)
	m.forgotAt = m.now
	if with == complete {
		m.node.Save()
	}
	for _, s := range slices.Clone(m.sockets) {
		s.forgotten()
	}
	m.sockets, m.waiting = nil, nil
	m.up, m.hung = false, false
	m.node.Kill()
	m.latest = 0
	m.check.forgot()
	m.after(d, func() { m.startUp(with) })
}

func (m *machine) startUp(with memory) {
	if m.up {
		return
	}
	if with == nothing {
		m.node.Start()
	} else {
		m.node.StartFrom()
	}
	m.up = true
	clear(m.setBy)
	m.say(m.name, "has started as %s", m.node.RunID())
}

func (m *machine) flush() {
	m.say(m.name, "is flushed by somebody")
	m.forgotAt = m.now
	m.node.Flush()
	m.check.forgot()
}

// shown is a reply for people.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case []byte:
		return string(v)
	case []any:
		var words []string
		for _, e := range v {
			words = append(words, shown(e))
		}
		return "[" + strings.Join(words, " ") + "]"
	default:
		return fmt.Sprint(v)
	}
}
