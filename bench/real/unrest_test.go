package real

// Everything at once: clients with pipelines of all kinds, while nodes stop, die, lose their scripts and cut our connections. Every command is
// answered, by its own answer; and in the end all of redlockd's room is free.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

const extendInTime = "if redis.call('get',KEYS[1])==ARGV[1] and redis.call('pttl',KEYS[1])>500 then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"

// answerLimit is how long any answer may take: many times a round, on a machine that is busy with others.
const answerLimit = 10 * time.Second

// unrest is clients that believe nothing.
type unrest struct {
	*scene
	history history
	over    atomic.Bool
	answers atomic.Int64
	all     sync.WaitGroup
}

// expected says what is wrong with an answer; "" if nothing is.
type expected func(v any, err error) string

// volley is a pipeline that is being made.
type volley struct {
	conn   redis.Conn
	wanted []expected
}

func (p *volley) add(want expected, command string, args ...any) {
	_ = p.conn.Send(command, args...) // found again by run
	p.wanted = append(p.wanted, func(v any, err error) string {
		if why := want(v, err); why != "" {
			return fmt.Sprintf("%s %.60s: %.100v, %.300v: %s", command, args, v, err, why)
		}
		return ""
	})
}

func undecided(err error) bool {
	var said redis.Error
	return errors.As(err, &said) && strings.HasPrefix(err.Error(), "NOQUORUM ")
}

func text(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// oneOf these, or no quorum.
func oneOf(words ...string) expected {
	return func(v any, err error) string {
		if undecided(err) {
			return ""
		}
		for _, w := range words {
			if err == nil && text(v) == w {
				return ""
			}
		}
		return fmt.Sprintf("want one of %.50q", words)
	}
}

func exactly(word string) expected {
	return func(v any, err error) string {
		if err == nil && text(v) == word {
			return ""
		}
		return "want " + word
	}
}

// run sends all and reads all answers. False: the connection is of no use any more.
func (u *unrest) run(who string, p *volley) bool {
	asked := time.Now()
	err := p.conn.Flush()
	for i := range p.wanted {
		var v any
		if err == nil {
			v, err = redis.ReceiveWithTimeout(p.conn, answerLimit)
		}
		var said redis.Error
		if err != nil && !errors.As(err, &said) {
			u.Errorf("%s: answer %d of %d, after %v: %v", who, i, len(p.wanted), time.Since(asked), err)
			return false
		}
		if why := p.wanted[i](v, err); why != "" {
			u.Errorf("%s: answer %d of %d: %s", who, i, len(p.wanted), why)
		}
		u.answers.Add(1)
		err = nil
	}
	p.wanted = p.wanted[:0]
	return true
}

// own is about keys that nobody else touches: what was granted is there.
func (u *unrest) own(p *volley, who string, n int) {
	key := fmt.Sprintf("own of %s, %d", who, n)
	token := key + "'s token"
	if rand.N(8) == 0 {
		token += strings.Repeat("x", rand.N(20_000))
	}
	ok := false
	holds := func(v any, err error) string {
		if ok {
			return oneOf(token)(v, err)
		}
		return oneOf(token, "<nil>")(v, err)
	}
	mark := fmt.Sprintf("%s-%d", who, rand.Int64())
	took := func(v any, err error) string {
		ok = text(v) == "OK"
		return oneOf("OK", "<nil>")(v, err)
	}
	p.add(exactly(mark), "ECHO", mark)
	switch rand.N(6) {
	case 0:
		p.add(oneOf("<nil>"), "SET", key, token, "NX", "GET", "PX", 6000) // what was there
	case 1:
		script := fmt.Sprintf("-- %d\n%s", rand.N(30), extendInTime)
		p.add(took, "SET", key, token, "NX", "PX", 6000)
		p.add(oneOf("0", "1"), "EVAL", script, 1, key, token, 7000)
	case 2:
		p.add(oneOf("OK"), "WATCH", key)
		p.add(exactly("OK"), "MULTI")
		p.add(exactly("QUEUED"), "SET", key, token, "PX", 6000)
		p.add(func(v any, err error) string {
			list, _ := v.([]any)
			if undecided(err) || err == nil && (v == nil || len(list) == 1 && text(list[0]) == "OK") {
				return ""
			}
			return "want an array of OK"
		}, "EXEC")
	case 3:
		p.add(oneOf("OK"), "SET", key, token, "PX", 6000)
	default:
		p.add(took, "SET", key, token, "NX", "PX", 6000)
	}
	p.add(holds, "GET", key)
	p.add(func(v any, err error) string {
		if n, is := v.(int64); undecided(err) || err == nil && is && n >= -2 && n <= 7000 {
			return ""
		}
		return "want a remaining time"
	}, "PTTL", key)
	p.add(exactly(mark+"!"), "ECHO", mark+"!")
	if rand.N(2) == 0 {
		p.add(func(v any, err error) string {
			if ok {
				return oneOf("1")(v, err)
			}
			return oneOf("0", "1")(v, err)
		}, "EVAL", compareAndDelete, 1, key, token)
	}
	if rand.N(50) == 0 {
		p.add(exactly("OK"), "SCRIPT", "FLUSH")
	}
}

// fight is for keys that all want.
func (u *unrest) fight(p *volley, who string, n int) bool {
	type held struct{ key, token string }
	var has []held
	asked := time.Now()
	ttl := 500*ms + rand.N(3*time.Second)
	for i := range 1 + rand.N(3) {
		key, token := fmt.Sprintf("fought%d", rand.N(6)), fmt.Sprintf("%s, %d.%d", who, n, i)
		p.add(func(v any, err error) string {
			if text(v) == "OK" {
				u.history.granted(who, key, token, asked, ttl)
				has = append(has, held{key, token})
			}
			return oneOf("OK", "<nil>")(v, err)
		}, "SET", key, token, "NX", "PX", ttl.Milliseconds())
	}
	if !u.run(who, p) {
		return false
	}
	time.Sleep(rand.N(30 * ms))
	for _, h := range has {
		if rand.N(2) == 0 {
			asked := time.Now()
			p.add(func(v any, err error) string {
				if text(v) == "1" {
					u.history.granted(who, h.key, h.token, asked, ttl)
				}
				return oneOf("0", "1")(v, err)
			}, "EVAL", compareAndExpire, 1, h.key, h.token, ttl.Milliseconds())
			if !u.run(who, p) {
				return false
			}
		}
		if rand.N(4) > 0 {
			u.history.releasing(who, h.key, h.token)
			p.add(oneOf("0", "1"), "EVAL", compareAndDelete, 1, h.key, h.token)
		}
	}
	return u.run(who, p)
}

// heavy fills what lies between us and a node that does not read.
func (u *unrest) heavy(p *volley, who string, n int) bool {
	token := strings.Repeat(who, 30_000/len(who))
	for i := range 1 + rand.N(100) {
		p.add(oneOf("OK", "<nil>"), "SET", fmt.Sprintf("heavy of %s, %d.%d", who, n, i), token, "NX", "PX", 1000)
	}
	return u.run(who, p)
}

// hangUp in the middle of a pipeline, its answers not read.
func (u *unrest) hangUp(who string) {
	c, err := net.Dial("tcp", u.proxy.Addr)
	if err != nil {
		u.Error(err)
		return
	}
	defer c.Close()
	var all []byte
	for i := range 1 + rand.N(100) {
		key, token := fmt.Sprintf("fought%d", rand.N(6)), fmt.Sprintf("%s, left %d", who, i)
		all = fmt.Appendf(all, "*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n$2\r\nNX\r\n$2\r\nPX\r\n$3\r\n700\r\n", len(key), key, len(token), token)
	}
	_, _ = c.Write(all[:1+rand.N(len(all))])
	time.Sleep(rand.N(20 * ms))
	if rand.N(2) == 0 {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}

func (u *unrest) play(who string) {
	p := &volley{conn: u.client(u.proxy.Addr)}
	for n := 0; !u.over.Load(); n++ {
		switch rand.N(6) {
		case 0:
			u.hangUp(who)
		case 5:
			if !u.heavy(p, who, n) {
				return
			}
		case 1, 2:
			if !u.fight(p, who, n) {
				return
			}
		default:
			for i := range 1 + rand.N(1+rand.N(30)) {
				u.own(p, who, n*100+i)
			}
			if !u.run(who, p) {
				return
			}
		}
		time.Sleep(rand.N(20 * ms))
	}
}

func (u *unrest) pauseFor(i int, d time.Duration) {
	u.must(u.nodes[i].Pause())
	time.Sleep(d)
	u.must(u.nodes[i].Resume())
}

// trouble for one node.
func (u *unrest) trouble(i int) {
	switch kind := rand.N(10); {
	case kind < 4:
		for range 5 {
			u.pauseFor(i, 50*ms+rand.N(100*ms)) // about a node timeout
			time.Sleep(rand.N(50 * ms))
		}
	case kind < 5:
		u.pauseFor(i, rand.N(3*time.Second))
	case kind < 7:
		_, _ = u.try(i, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	case kind < 9:
		_, _ = u.try(i, "SCRIPT", "FLUSH")
	default:
		for _, mark := range u.marks() {
			if mark == "" {
				return // too few to teach it
			}
		}
		restart(u.scene, i)
	}
}

func TestUnrest(t *testing.T) {
	t.Parallel()
	lasts := 5 * time.Second
	if long {
		lasts = 40 * time.Second
	}
	for _, n := range []int{5, 3} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			t.Parallel()
			const room, clients = 64, 12
			u := &unrest{scene: stage(t, cast{n: n, flags: []string{
				"--rounds-in-flight", fmt.Sprint(room), "--node-silence", "1s", "--max-ttl", "8s", "--node-timeout", "100ms", "--max-token", "32768",
			}})}
			for i := range clients {
				u.all.Go(func() { u.play(fmt.Sprintf("client %d", i)) })
			}
			for began := time.Now(); time.Since(began) < lasts && !t.Failed(); time.Sleep(rand.N(300 * ms)) {
				u.trouble(rand.N(n))
			}
			u.over.Store(true)
			u.all.Wait()
			u.allVouched()
			u.history.check(t, 5)
			u.roomIsFree(room)
			t.Logf("%d answers, %d grants of what all want", u.answers.Load(), u.history.count())
			u.must(u.proxy.Signal(syscall.SIGQUIT)) // it says what all goroutines do, and ends
			<-u.proxy.Done()
			// Besides, a node has its link's two, its connector, its attendant and its teacher.
			left := strings.Count(u.proxy.Log(), "\ngoroutine ")
			if most := clients + room + 5*n + 30; left > most {
				t.Errorf("%d goroutines, want %d at most: %s", left, most, u.proxy.Log())
			}
		})
	}
}

// roomIsFree says that as many rounds as there is room for are granted at once.
func (u *unrest) roomIsFree(room int) {
	u.Helper()
	var all sync.WaitGroup
	for i := range room {
		c := u.client(u.proxy.Addr)
		all.Go(func() {
			if r, err := redis.String(redis.DoWithTimeout(c, answerLimit, "SET", fmt.Sprintf("last%d", i), "t", "NX", "PX", 1000)); r != "OK" {
				u.Errorf("in the end: %v %v", r, err)
			}
		})
	}
	all.Wait()
	p := &volley{conn: u.client(u.proxy.Addr)}
	for i := range 4 * room {
		p.add(exactly("OK"), "SET", fmt.Sprintf("very last%d", i), "t", "NX", "PX", 1000)
	}
	u.run("the last", p)
}
