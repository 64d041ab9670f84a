package backend

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"redlockd/quorum"
)

// fleet is what the pipes know of each other, so that one node can be taught by the others.
type fleet struct {
	name  string // of this redlockd, to others that teach
	pipes []*Pipe
	tried sync.WaitGroup // until every node was dialled once

	mu     sync.Mutex
	claims map[string]*Pipe // which pipe leads to an instance, by run_id
}

// Open begins to connect to all nodes of a fleet and returns at once.
func Open(nodes ...Options) []*Pipe {
	f := &fleet{name: nonce(), claims: map[string]*Pipe{}}
	f.tried.Add(len(nodes))
	for i, opts := range nodes {
		p := &Pipe{
			opts: opts, fleet: f, index: i, since: opts.Clock(),
			nudge: make(chan struct{}, 1), alarm: make(chan struct{}, 1),
		}
		p.trust.since = p.since
		f.pipes = append(f.pipes, p)
	}
	for _, p := range f.pipes { // now that all of them are known to each other
		ctx, cancel := context.WithCancel(context.Background())
		beside, leave := context.WithCancel(ctx)
		p.cancel, p.leaveAlone = cancel, leave
		p.done.Go(func() { p.connect(ctx) })
		if watched {
			p.done.Go(func() { p.attend(beside) })
			p.done.Go(func() { p.teach(beside) })
		}
	}
	return f.pipes
}

// nonce is never the same twice.
func nonce() string { return rand.Text() }

// claim the instance for p: two addresses that lead to one instance are one vote, not two.
func (f *fleet) claim(p *Pipe, runID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.claims[runID]; other != nil && other != p {
		return twin(other.opts.Name)
	}
	for id, owner := range f.claims {
		if owner == p {
			delete(f.claims, id)
		}
	}
	if runID != "" {
		f.claims[runID] = p
	}
	return nil
}

// unclaim: p leads nowhere.
func (f *fleet) unclaim(p *Pipe) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, owner := range f.claims {
		if owner == p {
			delete(f.claims, id)
		}
	}
}

// standings of all nodes at this moment.
func (f *fleet) standings() []quorum.Standing {
	all := make([]quorum.Standing, len(f.pipes))
	for i, p := range f.pipes {
		all[i] = p.standing()
	}
	return all
}

// standing of the node. One whose clock is in doubt neither teaches nor counts as new.
func (p *Pipe) standing() quorum.Standing {
	l := p.current.Load()
	if l == nil {
		return quorum.Unreached
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watch.Standing()
}

// wall is our wall clock minus the clock that rounds are judged by. It is read anew when we were stopped between
// the one and the other.
func (p *Pipe) wall() (offset time.Duration) {
	for range 10 {
		before := p.opts.Clock()
		offset = time.Duration(p.opts.Wall().UnixNano()) - before
		if p.opts.Clock()-before < time.Millisecond {
			break
		}
	}
	return offset
}

// offset of the node's clock from our wall clock, to half a round trip.
func offset(r quorum.Reading, wall time.Duration) time.Duration {
	return r.Node - (r.Sent + (r.Received-r.Sent)/2 + wall)
}
