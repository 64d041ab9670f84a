package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/resp"
	"redlockd/bench/servers"
)

// expiry is that of every lock here, as of load.TTL: longer than a row, so that none ends by itself.
const expiry = 30 * time.Second

// keys are those of one client.
type keys struct {
	client int
	n      uint64
}

func (k *keys) next() string {
	k.n++
	return fmt.Sprintf("lock:%04d:%010d", k.client, k.n)
}

// own is one that only this client asks for, all through the row.
func (k *keys) own() string { return fmt.Sprintf("lock:%04d", k.client) }

// of is the key for the next piece of such work.
func (k *keys) of(work load.Work) string {
	switch work {
	case load.Refused:
		return k.own()
	case load.Contended:
		return "lock" // everybody's
	}
	return k.next()
}

// samples are what each client believes: a library that says yes without asking anybody would be the fastest of all, so
// after a row we look whether the last locks stand where they should, and whether the nodes have done as much as was counted.
type samples struct {
	mu      sync.Mutex
	clients []*sample
}

// sample is one client's: how many locks it has got (or was rightly refused, where all are held), and the last of them.
type sample struct {
	got  uint64
	last held
}

// held is a lock and its token, or a lock that was given back.
type held struct {
	key, token string
	released   bool
}

// client makes room for one more client. What it returns is that client's alone until the load has ended.
func (s *samples) client() *sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := new(sample)
	s.clients = append(s.clients, c)
	return c
}

func (s *sample) note(h held) {
	s.got++
	s.last = h
}

// got is how many locks all clients together believe to have got.
func (s *samples) got() (n uint64) {
	for _, c := range s.clients {
		n += c.got
	}
	return n
}

// maxLooked is how many clients' last locks are looked for: each question is a connection.
const maxLooked = 100

// check looks for the last locks: a taken one must stand, a released one must not, and somebody must have got one.
func (s *samples) check(stands func(h held) (bool, error)) error {
	if s.got() == 0 {
		return errors.New("no client got a lock")
	}
	looked := 0
	for _, c := range s.clients {
		if c.got == 0 {
			continue
		}
		if looked++; looked > maxLooked {
			break
		}
		stand, err := stands(c.last)
		if err != nil {
			return err
		}
		if stand == c.last.released {
			return fmt.Errorf("of the last locks of the clients, %s", c.last.wrong())
		}
	}
	return nil
}

// checkOn is check on Redis nodes: a lock stands when a majority of them all has it with its token. And the nodes together must
// have carried out this command as often as the locks that were counted needed votes.
func (s *samples) checkOn(nodes []*servers.Redis, command string, votes uint64) error {
	up := answering(nodes)
	if err := s.check(onMajority(up, len(nodes))); err != nil {
		return err
	}
	var done uint64
	for _, addr := range up {
		done += calls(addr, command)
	}
	if done < votes*s.got() {
		return fmt.Errorf("%d locks of %d votes were counted, but the nodes have carried out only %d %s", s.got(), votes, done, command)
	}
	return nil
}

// proof is the command that a node has carried out once for each lock: what takes it, also where it is refused, or what deletes it.
func proof(work load.Work) string {
	if work == load.Take || work == load.Refused {
		return "set"
	}
	return "del"
}

// calls is how often a node has carried out a command, in scripts or not. 0 where it does not answer: with a node that restarts
// again and again nobody knows when.
func calls(addr, command string) uint64 {
	info, err := resp.Do(addr, askLimit, "INFO", "commandstats")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(info.Text) {
		if stats, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			number, _, _ := strings.Cut(stats, ",")
			n, _ := strconv.ParseUint(number, 10, 64) // 0 if it is no number
			return n
		}
	}
	return 0
}

func (h held) wrong() string {
	if h.released {
		return h.key + " was released and still stands"
	}
	return h.key + " was taken and does not stand"
}

// askLimit is for one question to one node after a row. A node that does not answer in time is stopped, or gone.
const askLimit = time.Second

// onMajority says whether a majority of the nodes, of all that there are, has this key with this token. Only those in `up` are
// asked; one that does not answer (any more) has nothing.
func onMajority(up []string, nodes int) func(held) (bool, error) {
	return func(h held) (bool, error) {
		yes := 0
		for _, addr := range up {
			reply, err := resp.Do(addr, askLimit, "GET", h.key)
			if err == nil && !reply.Null && (h.released || reply.Text == h.token) {
				yes++
			}
		}
		return yes > nodes/2, nil
	}
}

// answering are the addresses of the nodes that answer PING: all but those that the row has broken.
func answering(nodes []*servers.Redis) []string {
	var up []string
	for _, n := range nodes {
		if reply, err := resp.Do(n.Addr, askLimit, "PING"); err == nil && reply.Text == "PONG" {
			up = append(up, n.Addr)
		}
	}
	return up
}
