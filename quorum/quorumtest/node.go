package quorumtest

import (
	"bufio"
	"context"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	lua "github.com/yuin/gopher-lua"

	"redlockd/quorum"
)

// Node is a simulated Redis master.
type Node struct {
	mu     sync.Mutex
	clock  clock
	store  store
	saved  map[string]entry   // by Save
	conns  map[net.Conn]int64 // and which number each has
	latest int64
	runID  string // of this life of the process
	newID  func() string
	down   bool
	delay  time.Duration
	hung   chan struct{} // not nil: nothing is carried out until it is closed
	// latestHeld is closed when the latest command that came while the node hung was carried out.
	latestHeld chan struct{}
	held       map[net.Conn]chan struct{} // nothing of these is carried out until it is closed
	before     func(args []string)        // by Before
	refuse     string                     // not empty: every write is answered with this error
	said       []field                    // by Say; the last of a name counts
	config     map[string]string
	lua        *lua.LState // nil until the first script
	seen       [][]string  // commands carried out, in order
}

// instances that there have been, of all nodes.
var instances atomic.Int64

func newRunID() string { return hash("instance " + strconv.FormatInt(instances.Add(1), 10)) }

// NewNode is up, vouched for, and empty but for that.
func NewNode() *Node {
	n := NewBlankNode()
	mark := quorum.Mark{RunID: n.runID, Nonce: "new" + n.runID[:8]}
	n.store.set(quorum.MarkKey, mark.String(), 0)
	return n
}

// NewBlankNode is up, and nobody has vouched for it.
func NewBlankNode() *Node { return NewNodeAt(wall, newRunID) }

// NewNodeAt is a blank node that lives by that time, whose instances are called by newID: for whoever turns time by hand, and must have
// the same again each time. It needs no connections, see Do.
func NewNodeAt(now func() time.Time, newID func() string) *Node {
	n := &Node{
		clock: newClock(now),
		conns: map[net.Conn]int64{},
		runID: newID(), newID: newID,
		config: map[string]string{
			"appendonly": "no", "appendfsync": "everysec", "maxmemory-policy": "noeviction",
		},
	}
	n.store = newStore(func() time.Time { return n.clock.now() })
	return n
}

// Dial connects to the node, in memory, as net.Dialer's DialContext would.
func (n *Node) Dial(context.Context, string, string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, syscall.ECONNREFUSED
	}
	near, far := pipe()
	n.latest++
	n.conns[far] = n.latest
	go n.serve(far)
	return near, nil
}

// Hang stops the node: it reads nothing more, and carries nothing out, until Resume.
func (n *Node) Hang() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hung == nil {
		n.hung = make(chan struct{})
	}
}

// Resume ends Hang. What was sent meanwhile is carried out now.
func (n *Node) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hung != nil {
		close(n.hung)
		n.hung = nil
	}
}

// HoldConnections holds up whatever comes over the connections that there are now, as a network does; new ones
// are not affected.
func (n *Node) HoldConnections() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = map[net.Conn]chan struct{}{}
	for c := range n.conns {
		n.held[c] = make(chan struct{})
	}
}

// ReleaseConnections ends HoldConnections.
func (n *Node) ReleaseConnections() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, held := range n.held {
		close(held)
	}
	n.held = nil
}

// Slow lets every answer wait for d after it was carried out, one after the other; but for the reading of mark and
// clock behind the requests, so that a request takes d.
func (n *Node) Slow(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = d
}

// Before lets do run before each command is carried out, in the way of whatever else comes over the same connection. do
// may call every method of every node, and sleep. It is told what was sent, and must not change it; nil ends it.
func (n *Node) Before(do func(args []string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before = do
}

// Refuse answers every command that writes, and every script, with this error; "" ends it.
func (n *Node) Refuse(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuse = text
}

// Cut closes all connections. What was sent and not read yet is gone.
func (n *Node) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
	}
	clear(n.conns)
}

// Kill cuts all connections and refuses new ones until Start. Memory is lost.
func (n *Node) Kill() {
	n.mu.Lock()
	n.down = true
	n.store.flush()
	n.runID, n.latest = n.newID(), 0
	n.mu.Unlock()
	n.Cut()
	n.Resume()
}

// Start ends Kill, or Unplug.
func (n *Node) Start() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

// Unplug cuts all connections and refuses new ones until Start. The node goes on, and forgets nothing.
func (n *Node) Unplug() {
	n.mu.Lock()
	n.down = true
	n.mu.Unlock()
	n.Cut()
}

// Save keeps a snapshot of the memory, as a node does on its disk from time to time.
func (n *Node) Save() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saved = maps.Clone(n.store.keys)
}

// StartFrom ends Kill with the memory of the last Save, of which what has ended by the node's clock is dropped. An
// old mark comes back with it.
func (n *Node) StartFrom() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store.load(n.saved)
	n.down = false
}

// Flush is FLUSHALL by somebody.
func (n *Node) Flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store.flush()
}

// Keys that exist, sorted, without those that are reserved.
func (n *Node) Keys() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := slices.DeleteFunc(n.store.live(), func(key string) bool { return strings.HasPrefix(key, quorum.Reserved) })
	slices.Sort(keys)
	return keys
}

// Value of a key, and whether it exists.
func (n *Node) Value(key string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e, ok := n.store.get(key)
	return e.value, ok
}

// Put sets a key, as somebody else would: for life, or for ever if that is zero.
func (n *Node) Put(key, value string, life time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store.set(key, value, life)
}

// Left is the remaining time of a key, 0 if it does not exist.
func (n *Node) Left(key string) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return max(0, time.Duration(n.store.pttl(key))*time.Millisecond)
}

// Seen is the commands carried out so far whose name is one of names, in order.
func (n *Node) Seen(names ...string) [][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found [][]string
	for _, c := range n.seen {
		for _, name := range names {
			if c[0] == name {
				found = append(found, c)
			}
		}
	}
	return found
}

func (n *Node) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		args, err := readCommand(in)
		if err != nil {
			return
		}
		done := n.await(c)
		n.mu.Lock()
		before := n.before
		n.mu.Unlock()
		if before != nil {
			before(args)
		}
		n.mu.Lock()
		if n.conns[c] == 0 {
			n.mu.Unlock()
			done()
			return // cut while it hung
		}
		out := n.execute(args, c)
		done()
		delay := n.delay
		if isTail(args) {
			delay = 0
		}
		n.mu.Unlock()
		time.Sleep(delay)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// await the end of whatever holds this connection up. What came while the node hung is carried out in the order in which it
// came, whatever the connection; done is to be called when it was.
func (n *Node) await(c net.Conn) (done func()) {
	n.mu.Lock()
	hung, held, before := n.hung, n.held[c], n.latestHeld
	done = func() {}
	if hung != nil {
		carriedOut := make(chan struct{})
		n.latestHeld, done = carriedOut, sync.OnceFunc(func() { close(carriedOut) })
	}
	n.mu.Unlock()
	if hung != nil {
		<-hung
	}
	if before != nil {
		<-before
	}
	if held != nil {
		done()
		<-held
	}
	return done
}

func isTail(args []string) bool {
	return args[0] == "TIME" || args[0] == "GET" && args[1] == quorum.MarkKey
}
