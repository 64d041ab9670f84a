// Publishing to the clients of this redlockd. A message reaches those who have subscribed here, and nobody else: it goes to no node
// and to no other redlockd, and what a node publishes is not heard. A lock client that waits for a message must poll as well, as
// it must with Redis, which promises no delivery either.
package proxy

import (
	"slices"
	"sync"

	"github.com/tidwall/redcon"
)

const (
	maxSubscriptions = 256       // of one connection: channels, patterns and shard channels together
	maxChannel       = 512       // bytes of the name of a channel or a pattern: comparing the two takes the product of steps, with the hub locked
	maxUnread        = 256 << 10 // bytes of messages that wait for one connection; past it, it is cut off
)

// topicKind says what a name subscribes to.
type topicKind uint8

const (
	channelTopic topicKind = iota
	patternTopic
	shardTopic
	topicKinds
)

// hub knows who has subscribed to what.
type hub struct {
	mu     sync.RWMutex
	topics [topicKinds]map[string]map[*subscriber]struct{} // none of the inner maps is empty
}

func newHub() *hub {
	h := &hub{}
	for kind := range h.topics {
		h.topics[kind] = map[string]map[*subscriber]struct{}{}
	}
	return h
}

func (h *hub) add(kind topicKind, name string, s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.topics[kind][name]
	if all == nil {
		all = map[*subscriber]struct{}{}
		h.topics[kind][name] = all
	}
	all[s] = struct{}{}
}

// remove: when it returns, nothing more is posted to s for that name.
func (h *hub) remove(kind topicKind, name string, s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.topics[kind][name]
	delete(all, s)
	if len(all) == 0 {
		delete(h.topics[kind], name)
	}
}

// publish posts a message to whoever has subscribed, waits for none of them, and says how many there were: one who has
// subscribed to the channel and to patterns of it gets it several times.
func (h *hub) publish(kind topicKind, channel, message []byte) (receivers int64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	word := "message"
	if kind == shardTopic {
		word = "smessage"
	}
	for s := range h.topics[kind][string(channel)] {
		s.post([]byte(word), channel, message)
		receivers++
	}
	if kind == shardTopic {
		return receivers
	}
	for pattern, all := range h.topics[patternTopic] {
		if !glob([]byte(pattern), channel) {
			continue
		}
		for s := range all {
			s.post([]byte("pmessage"), []byte(pattern), channel, message)
			receivers++
		}
	}
	return receivers
}

// names of a kind that match a pattern; nil matches all.
func (h *hub) names(kind topicKind, pattern []byte) (list []string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for name := range h.topics[kind] {
		if pattern == nil || glob(pattern, []byte(name)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (h *hub) count(kind topicKind, name []byte) int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.topics[kind][string(name)])
}

// size is how many names of a kind there are.
func (h *hub) size(kind topicKind) int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.topics[kind])
}

// subscriber is the side of a connection that messages come in from: others post, and a goroutine that lives as long
// as there is something to write writes.
type subscriber struct {
	conn *guardedConn

	// out has room for whoever writes messages; or for the session while it writes a reply that no message may come before: a
	// confirmation. Taken before mu. It is a channel, not a mutex, since it is waited for as long as a client is.
	out chan struct{}

	mu      sync.Mutex // guards the rest
	proto   int
	unread  []byte // whole messages; at most maxUnread
	writing bool   // the goroutine lives
	cut     bool   // past maxUnread: nothing is posted any more
}

func newSubscriber(conn *guardedConn, proto int) *subscriber {
	return &subscriber{conn: conn, out: make(chan struct{}, 1), proto: proto}
}

// post never waits for the client. One that does not read is cut off: it would miss messages otherwise, and not know it.
func (s *subscriber) post(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	switch {
	case s.cut:
		return
	case len(s.unread)+size > maxUnread:
		s.cut = true
		s.unread = nil
		go s.conn.Close() // it may wait for a farewell of TLS
		return
	}
	r := reply{out: s.unread, proto: s.proto}
	r.push(len(parts))
	for _, p := range parts {
		r.out = redcon.AppendBulk(r.out, p)
	}
	s.unread = r.out
	if !s.writing {
		s.writing = true
		go s.write()
	}
}

// write is the one goroutine beside the session's that writes to the connection. It does so by whole messages, and a Write of a
// net.Conn is one piece for others: replies and messages are not mixed up.
func (s *subscriber) write() {
	for s.writeUnread() {
	}
}

func (s *subscriber) writeUnread() (more bool) {
	s.out <- struct{}{}
	defer func() { <-s.out }()
	messages := s.take()
	if messages == nil {
		return false
	}
	if _, err := s.conn.send(messages); err != nil {
		// Perhaps in the middle of a message: nothing can follow it.
		_ = s.conn.Close()
		return false
	}
	return true
}

// take what waits; nil, and the end of the goroutine, if that is nothing.
func (s *subscriber) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.unread
	s.unread = nil
	s.writing = messages != nil
	return messages
}

// overtake takes what waits out of the goroutine's hands, for whoever holds out.
func (s *subscriber) overtake() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.unread
	s.unread = nil
	return messages
}

func (s *subscriber) speak(proto int) {
	s.mu.Lock()
	s.proto = proto
	s.mu.Unlock()
}
