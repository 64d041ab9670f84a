package sim

import "redlockd/quorum"

// side is a connection beside the pipe, for readmission.
type side struct {
	*pipe
	socket *socket
	runID  string
	info   string
	clocks quorum.NodeClock
}

func (p *pipe) aside(t *task) (*side, error) {
	s := &side{pipe: p, socket: p.dial(p.node)}
	if s.socket == nil {
		return nil, errRefused
	}
	who, ok := t.ask(s.socket, p.now+p.mix.dialTimeout, "WHO").([]any)
	if !ok {
		s.close()
		return nil, errCut
	}
	s.runID = text(who[0])
	return s, nil
}

func (s *side) close() { s.socket.close() }

func (s *side) do(t *task, words []string) (any, error) {
	v := t.ask(s.socket, s.now+s.mix.dialTimeout, words...)
	err, _ := v.(error)
	return v, err
}

// timed runs a script that answers the node's time behind its first element, and looks whether it jumped.
func (s *side) timed(t *task, words []string) ([]any, error) {
	sent := s.clock()
	v, err := s.do(t, words)
	if err != nil {
		return nil, err
	}
	values := v.([]any)
	r, err := said.Reading(values[1:3], sent, s.clock())
	if err != nil {
		return nil, err
	}
	if _, ok := s.clocks.Observe(r); !ok && quorum.Planted() != quorum.BugVouchAnyClock {
		return nil, errClock
	}
	return values, nil
}

func (s *side) carries(t *task, right func(*side, string) bool) error {
	v, err := s.timed(t, said.Glance())
	if err == nil && !right(s, text(v[0])) {
		err = errUnvouch
	}
	return err
}
