package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"redlockd/bench/resp"
	"redlockd/bench/servers"
)

// expiry is that of every lock here, as of load.TTL: longer than a row, so that none ends by itself.
const expiry = 30 * time.Second

// keys are those of one client: every one is used once.
type keys struct {
	client int
	n      uint64
}

func (k *keys) next() string {
	k.n++
	return fmt.Sprintf("lock:%04d:%010d", k.client, k.n)
}

// samples are the last locks that each client believes in. A library that says yes without asking anybody would be the fastest of
// all; so after a row we look whether these stand where they should.
type samples struct {
	mu   sync.Mutex
	last map[int]held // by client, so that there are never more than clients
}

// held is a lock and its token, or a lock that was given back.
type held struct {
	key, token string
	released   bool
}

func newSamples() *samples { return &samples{last: map[int]held{}} }

func (s *samples) note(client int, h held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[client] = h
}

// check asks holds, for each sampled lock, whether it stands: taken ones must, released ones must not. At least one client must have
// got a lock.
func (s *samples) check(stands func(h held) (bool, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) == 0 {
		return errors.New("no client took a lock")
	}
	for _, h := range s.last {
		stand, err := stands(h)
		if err != nil {
			return err
		}
		if stand == h.released {
			return fmt.Errorf("of %d sampled locks, %s", len(s.last), h.wrong())
		}
	}
	return nil
}

func (h held) wrong() string {
	if h.released {
		return h.key + " was released and still stands"
	}
	return h.key + " was taken and does not stand"
}

// askLimit is for one question to one node after a row. A node that does not answer in time is stopped, or gone.
const askLimit = time.Second

// onMajority says whether a majority of the nodes, of all that there are, has this key with this token. Only those in `up` are asked.
func onMajority(up []string, nodes int) func(held) (bool, error) {
	return func(h held) (bool, error) {
		yes := 0
		for _, addr := range up {
			reply, err := resp.Do(addr, askLimit, "GET", h.key)
			if err != nil {
				return false, err
			}
			if !reply.Null && (h.released || reply.Text == h.token) {
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
