package measure

import (
	"fmt"
	"sync"
	"time"

	"redlockd/bench/rows"
	"redlockd/bench/servers"
)

const (
	slowBy       = 20 * time.Millisecond // of a slow node's answers
	restartEvery = time.Second           // of a node that restarts again and again
)

// fault is what is broken of a stage, and what must be mended before its servers can be ended.
type fault struct {
	forward *servers.Forward // to the slow node

	mu   sync.Mutex
	gone time.Duration // CPU time of the nodes' processes that have ended

	quit       chan struct{} // nil: nobody restarts
	restarting sync.WaitGroup
	err        error // of a restart; read it when nobody restarts any more
}

// prepare puts what the row's fault will need in its place, before anybody connects. Nothing is broken yet.
func (s *Stage) prepare() (err error) {
	if s.Row.Fault == rows.Slow {
		last := len(s.Nodes) - 1
		if s.fault.forward, err = servers.StartForward(s.Nodes[last].Addr); err == nil {
			s.Addrs[last] = s.fault.forward.Addr()
		}
	}
	return err
}

// breakIt does to the stage what the row's fault says. Nothing mends it: the servers end with the row.
func (s *Stage) breakIt() error {
	if s.Row.Fault == rows.Healthy || s.Row.Fault == rows.Unwatched {
		return nil
	}
	last := s.Nodes[len(s.Nodes)-1]
	switch s.Row.Fault {
	case rows.Stopped:
		return last.Pause()
	case rows.Slow:
		s.fault.forward.Delay(slowBy)
		return nil
	case rows.Dead:
		return s.fault.kill(last)
	case rows.Taught:
		return s.fault.restart(last)
	case rows.Restarting:
		s.fault.quit = make(chan struct{})
		s.fault.restarting.Go(func() { s.fault.restartAgainAndAgain(last) })
		return nil
	}
	return fmt.Errorf("unknown fault %q", s.Row.Fault)
}

// kill keeps the account of what the node has used.
func (f *fault) kill(n *servers.Redis) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone += cpuOf(n.Pid())
	return n.Kill()
}

func (f *fault) restart(n *servers.Redis) error {
	if err := f.kill(n); err != nil {
		return err
	}
	return n.Restart()
}

func (f *fault) restartAgainAndAgain(n *servers.Redis) {
	tick := time.NewTicker(restartEvery)
	defer tick.Stop()
	for {
		if f.err = f.restart(n); f.err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-f.quit:
			return
		}
	}
}

// end stops what is still being done to the nodes.
func (f *fault) end() error {
	if f.quit != nil {
		close(f.quit)
		f.restarting.Wait()
	}
	if f.forward != nil {
		return f.forward.Close()
	}
	return f.err
}

// nodesCPU is the CPU time of the nodes, those that ended included.
func (s *Stage) nodesCPU() time.Duration {
	s.fault.mu.Lock()
	defer s.fault.mu.Unlock()
	sum := s.fault.gone
	for _, n := range s.Nodes {
		sum += cpuOf(n.Pid())
	}
	return sum
}
