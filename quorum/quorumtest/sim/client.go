package sim

import (
	"fmt"
	"strconv"
	"time"

	"redlockd/quorum"
)

// client takes locks in a loop. It knows nothing of redlockd: it counts its ttl from before it asked.
type client struct {
	*process
	i       int
	session *session
	takes   int
}

// session is a client's connection to a redlockd.
type session struct {
	client *client
	proxy  *proxy
	life   int                       // of the redlockd
	closed bool                      // by the client
	seen   bool                      // the redlockd knows it
	heard  func(quorum.Ruling, *run) // to what was asked last
	lost   func()
}

func newClient(w *world, i int) *client {
	return &client{process: &process{world: w, name: fmt.Sprintf("client %d", i), tasks: map[*task]bool{}}, i: i}
}

func (c *client) begin() {
	c.alive = true
	c.start(c.work)
}

// crash ends the client, with whatever it holds, and starts it again.
func (c *client) crash() {
	c.say(c.name, "is killed")
	if c.session != nil {
		c.session.close()
	}
	c.end()
	c.after(c.between(time.Millisecond, 200*time.Millisecond), func() {
		if !c.alive {
			c.begin()
		}
	})
}

// connect to a redlockd that lives; it stays with it as long as that does.
func (c *client) connect() *session {
	s := c.session
	if s != nil && !s.closed && s.proxy.alive && s.life == s.proxy.life {
		return s
	}
	p := pick(c.loop, c.proxies...)
	if !p.alive {
		return nil
	}
	c.session = &session{client: c, proxy: p, life: p.life}
	return c.session
}

func (s *session) close() {
	s.closed = true
	s.proxy.run(s.life, func() {}) // nothing to do there but to notice
	s.proxy.after(s.proxy.mix.latency, func() { s.seen = true })
}

// answer what was asked, on the redlockd's side.
func (s *session) answer(a *asked, ruling quorum.Ruling) {
	granted := ruling.Verdict == quorum.Granted && a.req.Op == quorum.Take
	if s.seen {
		if granted {
			a.giveBack()
		}
		return
	}
	a.after(a.mix.latency+a.about(a.mix.jitter), func() {
		if s.closed {
			if granted {
				a.later(a.mix.latency, a.giveBack) // the machine said so
			}
			return
		}
		if s.heard != nil {
			s.heard(ruling, a.run)
		}
	})
}

// outcome of a command; no run: it is not known.
type outcome struct {
	ruling quorum.Ruling
	run    *run
}

// do a command and wait. It gives up after a while, or, hung up, before.
func (c *client) do(t *task, req *quorum.Request) (o outcome) {
	s := c.connect()
	if s == nil {
		t.sleep(c.between(time.Millisecond, 20*time.Millisecond))
		return o
	}
	patience := c.mix.roundLimit + time.Second
	if c.faulty() && c.maybe(c.mix.hangUps) {
		patience = c.about(c.mix.hangUp)
	}
	answered := false
	t.park(func(wake func()) {
		s.heard = func(r quorum.Ruling, run *run) { o, answered = outcome{r, run}, true; wake() }
		c.after(c.mix.latency+c.about(c.mix.jitter), func() {
			s.proxy.run(s.life, func() {
				if !s.seen {
					s.proxy.ask(s, req)
				}
			})
		})
		t.later(patience, wake)
	})
	s.heard = nil
	if !answered {
		c.count("client hang-up")
		c.say(c.name, "hangs up")
		s.close()
	}
	return o
}

func (c *client) token() []byte {
	if c.mix.shared { // one for all that the process does
		return []byte("process" + strconv.Itoa(c.i%2))
	}
	c.takes++
	return []byte(fmt.Sprintf("t%d.%d.%d", c.i, c.life, c.takes))
}

func (c *client) request(op quorum.Op, key, token []byte, ttl time.Duration) *quorum.Request {
	c.operations++
	return &quorum.Request{Op: op, Key: key, Token: token, TTL: ttl, Life: quorum.Pad(ttl)}
}

func (c *client) work(t *task) {
	t.sleep(c.between(0, 50*time.Millisecond))
	for c.faulty() {
		key, token, ttl := []byte("k"+strconv.Itoa(c.rng.IntN(c.mix.keys))), c.token(), pick(c.loop, c.mix.ttls...)
		asked := c.now
		if c.tracing() {
			c.say(c.name, "asks for %s as %s for %v", key, token, ttl)
		}
		o := c.do(t, c.request(quorum.Take, key, token, ttl))
		switch {
		case o.run == nil || o.ruling.Verdict != quorum.Granted:
			wait := c.mix.poll
			if o.ruling.Verdict != quorum.Denied {
				wait *= 4
			}
			t.sleep(c.about(wait))
		case asked+ttl <= c.now:
			// It has come too late to be of use.
		default:
			c.hold(t, c.check.opens(o.run, c.name, asked+ttl), key, token, ttl)
		}
	}
}

// hold a lock for a while.
func (c *client) hold(t *task, w *window, key, token []byte, ttl time.Duration) {
	switch chance := c.rng.Float64(); {
	case chance < c.mix.abandon:
		t.sleep(c.between(0, ttl))
		return
	case chance < c.mix.abandon+c.mix.extends && !c.mix.shared: // an extend of another's lock would be its own fault
		for range 1 + c.rng.IntN(3) {
			t.sleep(c.between(0, w.end-c.now))
			asked := c.now
			o := c.do(t, c.request(quorum.Extend, key, token, ttl))
			if o.run == nil || o.ruling.Verdict != quorum.Granted {
				break
			}
			c.check.lengthens(w, o.run, asked+ttl)
		}
	}
	rest := max(0, w.end-c.now)
	if c.maybe(c.mix.brief) {
		rest = min(rest, pick(c.loop, 1, c.mix.rounds)*c.mix.roundLimit)
	}
	t.sleep(c.between(0, rest))
	if c.maybe(c.mix.toTheEnd) && c.now < w.end {
		t.sleep(w.end - c.now) // it lets it end
		return
	}
	if c.mix.shared && w.end-c.now < 50*time.Millisecond {
		t.sleep(w.end - c.now) // a release that came late could be of another's: its own fault, too
		return
	}
	c.check.closes(w)
	c.say(c.name, "releases %s", key)
	c.do(t, c.request(quorum.Release, key, token, 0))
}

// takeAtLast takes the key, however often it must ask.
func (c *client) takeAtLast(t *task, k int) {
	for {
		key, token, ttl := []byte("k"+strconv.Itoa(k)), c.token(), c.mix.ttls[0]
		asked := c.now
		o := c.do(t, c.request(quorum.Take, key, token, ttl))
		if o.run != nil && o.ruling.Verdict == quorum.Granted && asked+ttl > c.now {
			c.check.opens(o.run, c.name, asked+ttl)
			return
		}
		t.sleep(c.between(50*time.Millisecond, 150*time.Millisecond))
	}
}
