package backend

import (
	"context"
	"slices"
	"time"

	"redlockd/quorum"
)

// trust is what the log and people are told of the node's memory. Guarded by the pipe's mu.
type trust struct {
	vouched  bool
	since    time.Duration // our clock
	why      string
	taught   string // how it was taught by us, to be told when it is seen to be vouched for
	teaching string // our lesson's progress
	inVain   string // why the lesson before failed, as the log has it
	jumps    int    // how often its clock was to blame of late
	jumped   time.Duration
}

// lookEvery is how often an idle node is asked for its mark and its clock: the longer, the later a restart or a jump is
// seen, and the less exactly a clock's rate is known.
const lookEvery = 500 * time.Millisecond

// ping carries a tail with it, which is what it is for.
var ping = &own{command: commandOf("PING")}

var askInfo = commandOf("INFO")

// attend looks at the node also while there is no traffic, and settles what is to be done about a clock that jumped.
func (p *Pipe) attend(ctx context.Context) {
	examined := p.opts.Clock()
	for wait := lookEvery; ; {
		select {
		case <-time.After(wait):
		case <-p.alarm:
		case <-ctx.Done():
			return
		}
		wait = lookEvery
		p.mu.Lock()
		if now := p.opts.Clock(); now >= p.purge {
			p.forgetOwed(now)
		}
		p.mu.Unlock()
		if l := p.current.Load(); l != nil {
			l.lookIfIdle()
			if now := p.opts.Clock(); now-examined >= examineEvery {
				examined = now
				l.examine()
				l.renewMark()
			}
			if p.settleClock(l) {
				wait = p.opts.Patience.Timeout / 4
			}
		}
	}
}

func (l *link) lookIfIdle() {
	l.mu.Lock()
	idle := l.calls.n == 0
	l.mu.Unlock()
	if idle {
		_ = l.send(call{own: ping}, l.pipe.opts.Clock()) // if it has failed, it is dialled again
	}
}

// examineEvery is how often a node in use is asked whether it still is what it must be: a master that evicts nothing.
const examineEvery = 5 * time.Second

func (l *link) examine() {
	done := func(r reply) {
		info, ok := r.value.([]byte)
		if !ok || r.err != nil {
			return
		}
		findings := inspect(string(info), l.pipe.opts.DB, 1)
		if len(findings) > 0 && findings[0].Fatal {
			l.expel(findings) // and it will not be let in again as long as it is so
			return
		}
		l.pipe.noteFindings(findings)
	}
	_ = l.send(call{own: &own{command: askInfo, done: done}}, l.pipe.opts.Clock())
}

// expel the node. One that may have dropped locks has its mark deleted first: the mark has no expiry, and survives where they do not.
func (l *link) expel(findings []Finding) {
	if !mayHaveEvicted(findings) {
		l.fail(findings[0])
		return
	}
	done := func(reply) { l.fail(findings[0]) }
	err := l.send(call{own: &own{
		command: evalOf(unvouchArgs("")),
		done:    done,
	}}, l.pipe.opts.Clock())
	if err != nil {
		l.fail(findings[0]) // the mark is deleted when it is dialled again
	}
}

func mayHaveEvicted(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Code == "evicts" })
}

// noteFindings logs what is new among what is wrong with the node, but not so wrong that it is not used.
func (p *Pipe) noteFindings(findings []Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	noted := map[string]bool{}
	for _, f := range findings {
		if !p.noted[f.Code] {
			p.opts.Log.Warn("node "+f.What, "node", p.opts.Name, "hint", f.Hint)
		}
		noted[f.Code] = true
	}
	p.noted = noted
}

// settleClock finds out whose clock it was that jumped, and has the mark deleted if it was the node's (P4). It
// says whether to look again soon, since others are being asked.
func (p *Pipe) settleClock(l *link) (soon bool) {
	l.mu.Lock()
	by, wall, jumped := l.watch.Jumped()
	since := l.jumped
	l.mu.Unlock()
	if jumped {
		blame := quorum.JudgeClock(by, p.evidence(since, wall))
		if blame == quorum.Theirs && wall && !p.teachable() {
			blame = quorum.NotKnown
		}
		if blame == quorum.NotKnown && p.opts.Clock()-since > p.doubtFor(wall) {
			blame = quorum.Theirs
		}
		l.mu.Lock()
		switch blame {
		case quorum.Theirs:
			l.watch.Condemn()
		case quorum.Ours:
			l.watch.Forgive()
		}
		l.mu.Unlock()
		if blame == quorum.Ours {
			p.opts.Log.Warn("clocks of a majority of the nodes moved together: redlockd was paused, or its clock was set",
				"node", p.opts.Name, "it", by.String(), "by wall clocks", wall)
		}
	}
	l.mu.Lock()
	vouch, due := l.watch.Condemned()
	due = due && !l.settles
	l.settles = l.settles || due
	why := l.watch.Vouched()
	l.mu.Unlock()
	if due {
		p.opts.Log.Debug("node's mark is taken away", "node", p.opts.Name, "why", why)
		if by != (quorum.Shift{}) { // and not an instance that came back
			p.noteJump()
		}
		l.deleteMark(vouch)
	}
	return jumped && p.opts.Clock()-since < inDoubt
}

// doubtFor is how long the others are waited for to tell whose clock it was that jumped: one of them may be gone for good, and
// to blame the node is always safe. For a jump that nobody has witnessed it is the longest life of a lock, see teachable.
func (p *Pipe) doubtFor(wall bool) time.Duration {
	if wall {
		return quorum.WaitOut(p.opts.MaxLife)
	}
	return inDoubt
}

// inDoubt is many times what a node that is there needs to tell its time.
const inDoubt = 5 * time.Second

// teachable says that enough others are vouched for to teach the node. A jump that nobody has witnessed may be a clock that ran
// wrong for days: several nodes must not be un-vouched for it at once, because then nobody could teach them. Until
// it is settled the node's votes do not count with us, and REDLOCK ADMIT settles it.
func (p *Pipe) teachable() bool {
	trusted := 0
	for i, s := range p.fleet.standings() {
		if i != p.index && s == quorum.Trusted {
			trusted++
		}
	}
	return trusted >= quorum.Teachers(len(p.fleet.pipes))
}

// renewMark keeps the mark's offset right.
func (l *link) renewMark() {
	l.mu.Lock()
	old, renewed, due := l.watch.Renew(l.pipe.wall(), l.pipe.opts.Tolerance)
	l.mu.Unlock()
	if due {
		_ = l.send(call{own: &own{command: evalOf(renewArgs(old, renewed))}}, l.pipe.opts.Clock())
	}
}

// deleteMark un-vouches the node for everyone, by SpoiltMark in place of its mark, in order with everything else on this connection (P4).
func (l *link) deleteMark(vouch string) {
	ended := func(deleted bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.settles = false
		if deleted {
			l.watch.Retracted(vouch)
		}
	}
	err := l.send(call{own: &own{
		command: evalOf(unvouchArgs(vouch)),
		done:    func(r reply) { ended(r.err == nil) },
	}}, l.pipe.opts.Clock())
	if err != nil {
		ended(false) // the queue is full: attend tries again
	}
}

// evidence of all other nodes' clocks, and asks those that have not said anything since.
func (p *Pipe) evidence(since time.Duration, wall bool) []quorum.Evidence {
	var all []quorum.Evidence
	for _, o := range p.fleet.pipes {
		if o == p {
			continue
		}
		e := quorum.Evidence{}
		if l := o.current.Load(); l != nil {
			l.mu.Lock()
			if wall {
				e = l.watch.WallEvidence(o.wall(), o.opts.Tolerance)
			} else {
				e = l.watch.Evidence(since)
			}
			l.mu.Unlock()
			if !e.Heard {
				l.lookIfIdle()
			}
		}
		all = append(all, e)
	}
	return all
}

// willBeVouched tells how, in case it is.
func (p *Pipe) willBeVouched(how string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trust.taught = how
}

// trustChanged: l has seen something new about the node's memory or clock.
func (p *Pipe) trustChanged(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l {
		p.noteTrust(l)
	}
}

// noteTrust keeps and logs, with mu held, whether the node is vouched for, and wakes its teacher.
func (p *Pipe) noteTrust(l *link) {
	if !watched {
		return
	}
	l.mu.Lock()
	gone := l.watch.Vouched()
	_, _, jumped := l.watch.Jumped()
	l.mu.Unlock()
	if jumped {
		select {
		case p.alarm <- struct{}{}:
		default:
		}
	}
	vouched, why := gone == nil, "it carries the mark of this instance"
	switch {
	case !vouched:
		why, p.trust.taught = gone.Error(), ""
	case p.trust.taught != "":
		why, p.trust.taught = p.trust.taught, ""
	}
	if vouched != p.trust.vouched {
		p.trust.vouched, p.trust.since = vouched, p.opts.Clock()
	}
	if vouched {
		p.admit.Store(false) // whoever brought it back
		p.trust.teaching, p.trust.inVain = "", ""
		p.sendOwed(l, len(p.owed)) // what waited for that, before any take, as in enter
		p.tellLater()
		l.mu.Lock()
		l.told = true
		l.mu.Unlock()
	}
	if why != p.trust.why {
		p.trust.why = why
		if vouched {
			p.opts.Log.Info("node is vouched for: its yes counts", "node", p.opts.Name, "why", why)
		} else {
			p.opts.Log.Warn("node is "+why, "node", p.opts.Name)
		}
	}
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}
