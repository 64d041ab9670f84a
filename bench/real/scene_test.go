package real

// The scene of the tests of R21 and R24 over real processes: a lock that a bare majority holds, and clients who would have it.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"redlockd/bench/servers"
	"redlockd/quorum"
)

// key is the lock of a scene. Client 1 holds it for life, which is longer than most scenes.
const (
	key  = "fought"
	life = 2 * time.Minute
	// rivalLife is for how long client 2 asks: short, since what it was about to be denied stays on the nodes for so long if
	// its redlockd is killed.
	rivalLife = 3 * time.Second
)

// scene is a fleet of which a bare majority, its last nodes, has client 1's lock, so that it is lost if one of them
// forgets it and votes. Over every redlockd a client 2 tries to take it all the time.
type scene struct {
	fleet
	list    []string // the nodes, as redlockd is told
	db      int
	life    time.Duration    // of client 1's lock
	forward *servers.Forward // in front of the last holder, if asked for
	proxies []*servers.Proxy // that run
	told    history          // what clients were told
	until   time.Time        // client 1 relies on its lock until then
	refused atomic.Int64     // how often client 2 was
	over    chan struct{}    // client 2 gives up
	rivals  sync.WaitGroup   // clients 2
	start   func() *servers.Proxy
}

// cast is what a scene needs. The last holder is the one that forgets.
type cast struct {
	n, proxies int
	args       []string // of the last holder
	forward    bool     // the last holder is behind a Forward
	clocks     bool     // the last holder has a clock of its own
	db         int
	locks      int // that every node holds besides, to make teaching last
	flags      []string
	life       time.Duration // of client 1's lock, if it is to end
	wire       func(*scene)  // puts something between
}

func stage(t *testing.T, c cast) *scene {
	t.Helper()
	s := &scene{fleet: fleet{T: t, nodes: make([]*servers.Redis, c.n)}, db: c.db, life: cmp.Or(c.life, life), over: make(chan struct{})}
	for i := range s.nodes {
		start, args := servers.StartRedis, []string(nil)
		if i == s.last() {
			args = c.args
			if c.clocks {
				start = servers.StartRedisWithClock
			}
		}
		node, err := start(t.TempDir(), args...)
		s.must(err)
		t.Cleanup(func() { node.Close() })
		s.nodes[i] = node
		address := node.Addr
		if i == s.last() && c.forward {
			s.forward, err = servers.StartForward(address)
			s.must(err)
			t.Cleanup(func() { s.forward.Close() })
			address = s.forward.Addr()
		}
		if s.list = append(s.list, address); c.db > 0 {
			s.list[i] += fmt.Sprintf("/%d", c.db)
		}
		if c.locks > 0 {
			s.at(i, "EVAL", `for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'lock' .. i, 'token', 'PX', 600000) end`, 0, c.locks)
		}
	}
	if c.wire != nil {
		c.wire(s)
	}
	s.start = func() *servers.Proxy {
		p := s.redlockd(append([]string{"--nodes", strings.Join(s.list, ",")}, c.flags...)...)
		s.proxies = append(s.proxies, p)
		return p
	}
	for range max(c.proxies, 1) {
		s.proxy = s.start()
	}
	s.proxy = s.proxies[0]
	s.allVouched()
	return s
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// first holder; the last node is the last one. A node is taught by the first ones, who do not have the lock, and by one more.
func (s *scene) first() int { return len(s.nodes) - quorum.Majority(len(s.nodes)) }
func (s *scene) last() int  { return len(s.nodes) - 1 }

// at asks a node itself.
func (s *scene) at(i int, command string, args ...any) any {
	s.Helper()
	v, err := s.try(i, command, args...)
	s.must(err)
	return v
}

func (s *scene) try(i int, command string, args ...any) (any, error) {
	c, err := redis.Dial("tcp", s.nodes[i].Addr, redis.DialDatabase(s.db), redis.DialReadTimeout(10*time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	v, err := c.Do(command, args...)
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	return v, err
}

// mark that vouches for the node now, empty if it is not vouched for.
func (s *scene) mark(i int) string {
	v, err := s.try(i, "GET", quorum.MarkKey)
	mark, _ := v.(string)
	info, err2 := redis.String(s.try(i, "INFO", "server"))
	if id := quorum.ParseMark(mark).RunID; err != nil || err2 != nil || id == "" || !strings.Contains(info, "run_id:"+id) {
		return ""
	}
	return mark
}

// allVouched waits until every redlockd counts every node's yes.
func (s *scene) allVouched() {
	s.Helper()
	for _, p := range s.proxies {
		f := s.fleet
		f.proxy = p
		f.waitUp(len(s.nodes))
	}
}

// vouchedAnew waits until those nodes are vouched for by other marks than before.
func (s *scene) vouchedAnew(before []string, nodes ...int) {
	s.Helper()
	for _, i := range nodes {
		s.eventually(fmt.Sprintf("node %d is vouched for anew", i), func() bool {
			mark := s.mark(i)
			return mark != "" && quorum.VouchOf(mark) != quorum.VouchOf(before[i])
		})
	}
	s.allVouched()
}

func (s *scene) marks() []string {
	var all []string
	for i := range s.nodes {
		all = append(all, s.mark(i))
	}
	return all
}

// take the lock for client 1. Who is no holder never had it.
func (s *scene) take() {
	s.Helper()
	c := s.client(s.proxies[0].Addr)
	asked := time.Now()
	if r, err := redis.String(c.Do("SET", key, "t1", "NX", "PX", s.life.Milliseconds())); err != nil || r != "OK" {
		s.Fatalf("client 1: %v %v", r, err)
	}
	s.told.granted("client 1", key, "t1", asked, s.life)
	s.until = asked.Add(s.life)
	for i := range s.nodes {
		s.eventually("every node has it", func() bool { return s.at(i, "GET", key) == "t1" })
		if i < s.first() {
			s.at(i, "DEL", key)
		}
	}
	s.Cleanup(s.quiet)
	for _, p := range s.proxies {
		s.rival(p)
	}
}

// rival is a client 2. It ends when it was granted the lock.
func (s *scene) rival(p *servers.Proxy) {
	s.rivals.Go(func() {
		c, err := redis.Dial("tcp", p.Addr, redis.DialReadTimeout(time.Minute))
		if err != nil {
			return
		}
		defer c.Close()
		for n := 0; ; n++ {
			select {
			case <-s.over:
				return
			case <-time.After(5 * ms):
			}
			token, asked := fmt.Sprintf("%d-%d", p.Pid(), n), time.Now()
			r, err := redis.String(c.Do("SET", key, token, "NX", "PX", rivalLife.Milliseconds()))
			var said redis.Error
			switch {
			case r == "OK":
				s.told.granted("client 2 of "+p.Addr, key, token, asked, rivalLife)
				return
			case err == redis.ErrNil, errors.As(err, &said) && strings.HasPrefix(err.Error(), "NOQUORUM "):
				s.refused.Add(1)
			case errors.As(err, &said):
				s.Errorf("client 2 is told %v", err)
				return
			default:
				return // its redlockd was killed
			}
		}
	})
}

func (s *scene) quiet() {
	select {
	case <-s.over:
	default:
		close(s.over)
	}
	s.rivals.Wait()
}

// blocks says that the node itself refuses the lock for as long as client 1 relies on it.
func (s *scene) blocks(i int) {
	s.Helper()
	value := s.at(i, "GET", key)
	now := time.Now()
	left, _ := s.at(i, "PTTL", key).(int64)
	if value != "t1" && value != quorum.Blocker {
		s.Errorf("node %d has %v", i, value)
	}
	if ends := now.Add(time.Duration(left) * ms); ends.Before(s.until) {
		s.Errorf("node %d has it for %d ms: %v too short", i, left, s.until.Sub(ends))
	}
}

// polled waits until client 2 was refused some times more.
func (s *scene) polled() {
	s.Helper()
	from := s.refused.Load()
	s.eventually("client 2 is refused", func() bool { return s.refused.Load() >= from+4 || s.told.count() > 1 })
}

// ends: with the other holders taken away, the nodes that were taught refuse client 2 by themselves. Then client 1 gives the
// lock back, and client 2 is granted it, which shows that it could have been before.
func (s *scene) ends(taught ...int) {
	s.Helper()
	for _, i := range taught {
		s.blocks(i)
	}
	s.polled()
	for i := s.first(); i < len(s.nodes); i++ {
		if !slices.Contains(taught, i) {
			s.must(s.nodes[i].Pause())
			defer s.nodes[i].Resume()
		}
	}
	s.polled()
	for i := s.first(); i < len(s.nodes); i++ {
		s.must(s.nodes[i].Resume())
	}
	if n := s.told.count(); n != 1 {
		s.told.check(s, 1)
		s.Fatalf("%d grants while client 1 holds the lock\n%s", n, s.proxyLog())
	}
	s.told.releasing("client 1", key, "t1")
	c := s.client(s.proxies[0].Addr)
	if _, err := c.Do("EVAL", compareAndDelete, 1, key, "t1"); err != nil && !strings.HasPrefix(err.Error(), "NOQUORUM ") {
		s.Errorf("client 1 releases: %v", err)
	}
	s.eventually("client 2 is granted it", func() bool { return s.told.count() > 1 })
	s.quiet()
	s.told.check(s, 2)
}
