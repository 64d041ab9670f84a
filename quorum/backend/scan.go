package backend

import (
	"context"
	"time"

	"redlockd/quorum"
)

const (
	// pageKeys is about how many keys are read in one step: so few that no round waits for it.
	pageKeys = 100
	// longestToken in bytes is longer than the longest token in its right mind. A longer value is
	// copied as a blocker: it could be a lock's, by the settings of another redlockd.
	longestToken = 64 << 10
)

// scan one other node and merge every lock it holds into the pupil (P7, P8). It counts only if that node was vouched for, by the same
// mark before the first key and after the last.
func (s *pupil) scan(ctx context.Context, other *Pipe) error {
	mark, clock, err := other.credentials()
	if err != nil {
		return err
	}
	return s.copyFrom(ctx, other, clock, sameVouch(mark))
}

// sameVouch says that a mark that was read vouches for the instance that it was read from, and is the same as mark but for
// its offset.
func sameVouch(mark string) func(*side, string) bool {
	return func(from *side, read string) bool {
		return quorum.VouchOf(read) == quorum.VouchOf(mark) && quorum.ParseMark(read).RunID == from.runID
	}
}

// copyFrom merges every lock that the other node holds. It is nil only if that node's mark was right before the first
// key and after the last, on this one connection, and its clock did not jump since clock was kept: a jump that nobody has
// settled yet is seen here, too.
func (s *pupil) copyFrom(ctx context.Context, other *Pipe, clock quorum.NodeClock, right func(from *side, mark string) bool) error {
	from, err := other.aside(ctx)
	if err != nil {
		return err
	}
	defer from.close()
	from.clock = clock
	if err := from.carries(right); err != nil {
		return err
	}
	for cursor := "0"; ; {
		began := s.pipe.opts.Clock()
		var locks []lock
		if cursor, locks, err = from.page(cursor); err != nil {
			return err
		}
		if len(locks) > 0 {
			if err := s.merge(locks); err != nil {
				return err
			}
		}
		if err := s.tend(); err != nil {
			return err
		}
		if cursor == "0" {
			return from.carries(right)
		}
		// Three times as long as it took: of what the copy needs, three quarters are left to the rounds.
		select {
		case <-time.After(3 * (s.pipe.opts.Clock() - began)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// credentials are the mark that vouches for the node by its pipe, and what the pipe knows of its clock.
func (p *Pipe) credentials() (string, quorum.NodeClock, error) {
	if l := p.current.Load(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watch.Standing() == quorum.Trusted {
			return l.watch.Mark(), *l.watch.Clock(), nil
		}
	}
	return "", quorum.NodeClock{}, errNotMarked
}

// carries says that the node's mark is right, now.
func (s *side) carries(right func(from *side, mark string) bool) error {
	v, err := s.timed(1, glanceArgs())
	if err != nil {
		return err
	}
	if !right(s, text(v[0])) {
		return errNotMarked
	}
	return nil
}

// page reads the locks among the next keys.
func (s *side) page(cursor string) (next string, locks []lock, err error) {
	v, err := s.timed(1, pageArgs(cursor))
	if err != nil {
		return "", nil, err
	}
	return readPage(v)
}
