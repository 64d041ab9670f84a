package proxy

import (
	"fmt"
	"maps"
	"slices"

	"redlockd/commands"
)

// subscriptions are a connection's. Everything is for the session's goroutine.
type subscriptions struct {
	to   *subscriber // nil until the first
	has  [topicKinds]map[string]struct{}
	held bool // to.out is
}

func (s *subscriptions) count() int {
	return len(s.has[channelTopic]) + len(s.has[patternTopic]) + len(s.has[shardTopic])
}

// counted is what a confirmation says: shard channels are counted for themselves.
func (s *subscriptions) counted(kind topicKind) int64 {
	if kind == shardTopic {
		return int64(len(s.has[shardTopic]))
	}
	return int64(len(s.has[channelTopic]) + len(s.has[patternTopic]))
}

// hold keeps messages back until release, which comes when the replies are written.
func (s *subscriptions) hold() {
	if s.to != nil && !s.held {
		s.to.out <- struct{}{}
		s.held = true
	}
}

func (s *subscriptions) release() {
	if s.held {
		s.held = false
		<-s.to.out
	}
}

// alone says that a command is answered before the next one is begun, and after all before it are: it changes what may be asked
// for, or waits until messages are written. No grant waits with it (T2).
func (c *session) alone(verb commands.Verb) bool {
	switch verb {
	case commands.Subscribe, commands.Unsubscribe, commands.Reset:
		return true
	case commands.Publish, commands.Hello:
		return c.subs.to != nil
	}
	return false
}

// receive writes the messages that have waited so far to the replies: needs hold.
func (c *session) receive() {
	if c.subs.to != nil {
		c.reply.out = append(c.reply.out, c.subs.to.overtake()...)
		c.unmuted()
	}
}

// kindOf says what SUBSCRIBE and its kin, or PUBLISH and SPUBLISH, are about.
func kindOf(command string) topicKind {
	switch command {
	case "psubscribe", "punsubscribe":
		return patternTopic
	case "ssubscribe", "sunsubscribe", "spublish":
		return shardTopic
	default:
		return channelTopic
	}
}

// isSubscriber is Redis's rule: a client of RESP2 that has subscribed could not tell replies from messages.
func (c *session) isSubscriber() bool { return c.reply.proto == 2 && c.subs.count() > 0 }

// mayAsk refuses what a subscriber may not ask for.
func (c *session) mayAsk(cmd *commands.Command) error {
	if !c.isSubscriber() {
		return nil
	}
	switch cmd.Verb {
	case commands.Subscribe, commands.Unsubscribe, commands.Ping, commands.Quit, commands.Reset:
		return nil
	}
	return commands.Error("ERR Can't execute '" + cmd.Full() +
		"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
}

func (c *session) subscribe(cmd *commands.Command) {
	names, kind, subs := cmd.Args[1:], kindOf(cmd.Name), &c.subs
	if err := subs.room(names); err != nil {
		c.reply.error(err.Error())
		return
	}
	if subs.to == nil {
		subs.to = newSubscriber(c.guard, c.reply.proto)
		c.guard.pushed = true
	}
	subs.hold()
	for _, name := range names {
		if subs.has[kind] == nil {
			subs.has[kind] = map[string]struct{}{}
		}
		subs.has[kind][string(name)] = struct{}{}
		c.server.hub.add(kind, string(name), subs.to)
		c.confirm(cmd.Name, name, kind)
	}
	c.noteSubscriptions()
}

func (s *subscriptions) room(names [][]byte) error {
	if s.count()+len(names) > maxSubscriptions {
		return commands.Error(fmt.Sprintf("ERR a connection may have %d subscriptions", maxSubscriptions))
	}
	for _, name := range names {
		if err := channelFits(name); err != nil {
			return err
		}
	}
	return nil
}

func channelFits(name []byte) error {
	if len(name) > maxChannel {
		return commands.Error(fmt.Sprintf("ERR channel of %d bytes is longer than %d", len(name), maxChannel))
	}
	return nil
}

// unsubscribe from the names, or from all of the kind if there are none.
func (c *session) unsubscribe(cmd *commands.Command) {
	names, kind := cmd.Args[1:], kindOf(cmd.Name)
	c.subs.hold()
	if len(names) == 0 {
		for _, name := range slices.Sorted(maps.Keys(c.subs.has[kind])) {
			names = append(names, []byte(name))
		}
	}
	for _, name := range names {
		c.leave(kind, string(name))
		c.receive() // what was published before comes before
		c.confirm(cmd.Name, name, kind)
	}
	if len(names) == 0 {
		c.confirm(cmd.Name, nil, kind)
	}
	c.noteSubscriptions()
}

func (c *session) leave(kind topicKind, name string) {
	if _, ok := c.subs.has[kind][name]; ok {
		delete(c.subs.has[kind], name)
		c.server.hub.remove(kind, name, c.subs.to)
	}
}

// leaveAll is for RESET and for a connection that has closed: nothing is confirmed.
func (c *session) leaveAll() {
	for kind := range c.subs.has {
		for name := range c.subs.has[kind] {
			c.leave(topicKind(kind), name)
		}
	}
}

func (c *session) confirm(word string, name []byte, kind topicKind) {
	r := &c.reply
	r.push(3)
	r.text(word)
	r.bulk(name)
	r.int(c.subs.counted(kind))
	c.unmuted()
}

// publish: a client that has subscribed itself gets the message before the reply, as from Redis.
func (c *session) publish(cmd *commands.Command) {
	if err := channelFits(cmd.Args[1]); err != nil {
		c.reply.error(err.Error())
		return
	}
	c.subs.hold()
	n := c.server.hub.publish(kindOf(cmd.Name), cmd.Args[1], cmd.Args[2])
	c.receive()
	c.reply.int(n)
}

func (c *session) pubsub(cmd *commands.Command) {
	r, hub, args := &c.reply, c.server.hub, cmd.Args[2:]
	kind := channelTopic
	switch cmd.Sub {
	case "shardchannels", "shardnumsub":
		kind = shardTopic
	}
	switch cmd.Sub {
	case "channels", "shardchannels":
		if len(args) > 1 {
			r.error(commands.WrongSubArity(cmd.Args).Error())
			return
		}
		var pattern []byte
		if len(args) == 1 {
			pattern = args[0]
		}
		names := hub.names(kind, pattern)
		r.array(len(names))
		for _, name := range names {
			r.text(name)
		}
	case "numsub", "shardnumsub":
		r.array(2 * len(args))
		for _, name := range args {
			r.bulk(name)
			r.int(int64(hub.count(kind, name)))
		}
	case "numpat":
		r.int(int64(hub.size(patternTopic)))
	}
}
