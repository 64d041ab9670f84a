package quorumtest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Node is a simulated Redis master. Its clock is time.Now.
type Node struct {
	mu     sync.Mutex
	store  store
	conns  map[net.Conn]int64 // and which number each has
	latest int64
	// instance is a number for each life of the process.
	instance int
	down     bool
	delay    time.Duration
	hung     chan struct{}              // not nil: nothing is carried out until it is closed
	held     map[net.Conn]chan struct{} // nothing of these is carried out until it is closed
	refuse   string                     // not empty: every write is answered with this error
	seen     [][]string                 // commands carried out, in order
}

// NewNode is up and empty.
func NewNode() *Node {
	return &Node{store: store{}, conns: map[net.Conn]int64{}}
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

// Slow lets every answer wait for d after it was carried out.
func (n *Node) Slow(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = d
}

// Refuse answers every command that writes with this error, "" ends it.
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
	n.store = store{}
	n.instance, n.latest = n.instance+1, 0
	n.mu.Unlock()
	n.Cut()
	n.Resume()
}

// Start ends Kill.
func (n *Node) Start() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

// Value of a key, and whether it exists.
func (n *Node) Value(key string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.store.get(key)
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
		n.mu.Lock()
		hung, held := n.hung, n.held[c]
		n.mu.Unlock()
		if hung != nil {
			<-hung
		}
		if held != nil {
			<-held
		}
		n.mu.Lock()
		if n.conns[c] == 0 {
			n.mu.Unlock()
			return // cut while it hung
		}
		out := n.execute(args, c)
		delay := n.delay
		n.mu.Unlock()
		time.Sleep(delay)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

var errProtocol = errors.New("quorumtest: not a command")

func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		data := make([]byte, size+2)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		args[i] = string(data[:size])
	}
	return args, nil
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 || line[0] != kind {
		return 0, errProtocol
	}
	return strconv.Atoi(line[1 : len(line)-2])
}
