package sim

import (
	"fmt"
	"slices"
	"time"

	"redlockd/quorum"
)

// proxy is a redlockd: what quorum.Fleet does, with one event in place of each wait, so that a pause may come in between.
type proxy struct {
	*process
	i         int
	rate      float64       // of its clock
	set       time.Duration // by how much its wall clock is wrong
	known     string        // its name to others that teach, another one in each life
	pipes     []*pipe
	evenUntil time.Duration // see uneven
}

func newProxy(w *world, i int) *proxy {
	p := &proxy{i: i, rate: 1 + (w.rng.Float64()-0.5)*2*w.mix.proxyRate}
	p.process = &process{world: w, name: fmt.Sprintf("proxy %d", i), tasks: map[*task]bool{}}
	return p
}

// clock of the process: what rounds are judged by.
func (p *proxy) clock() time.Duration { return time.Hour + time.Duration(float64(p.now)*p.rate) }

// wall is its wall clock minus its clock.
func (p *proxy) wall() time.Duration {
	return time.Duration(epoch.UnixNano()) + p.now + p.set - p.clock()
}

// begin a life of it.
func (p *proxy) begin() {
	p.alive = true
	p.known = fmt.Sprintf("teacher%d.%d", p.i, p.life)
	p.pipes = nil
	for _, m := range p.machines {
		p.pipes = append(p.pipes, &pipe{proxy: p, node: m, index: len(p.pipes)})
	}
	for _, q := range p.pipes {
		p.start(q.connect)
		p.start(q.attend)
		p.start(q.teach)
	}
}

// crash ends it; nobody is told anything.
func (p *proxy) crash() {
	p.say(p.name, "is killed")
	for _, q := range p.pipes {
		for _, s := range slices.Clone(q.node.sockets) {
			if s.owner == p.process && s.life == p.life {
				s.close()
			}
		}
	}
	p.end()
}

// run is one round on its way.
type run struct {
	*proxy
	id      int
	req     *quorum.Request
	round   quorum.Round
	begun   bool
	decided func()
	t1      time.Duration // our clock before the first byte was sent
	first   time.Duration // true time then, or later
	audit   audit
	uneven  bool // see makeUneven
}

// carry req to all nodes. now is our clock before.
func (p *proxy) carry(req *quorum.Request, now time.Duration, decided func()) *run {
	p.runs++
	r := &run{proxy: p, id: p.runs, req: req, decided: decided, t1: now, first: p.now}
	r.audit = audit{yes: make([]bool, len(p.pipes))}
	r.round = quorum.NewRound(req, len(p.pipes), now, p.mix.maxTTL)
	p.check.begins(r)
	if req.Op == quorum.Take || req.Op == quorum.Extend {
		r.uneven = p.makeUneven(req)
	}
	for i, q := range p.pipes {
		q.send(req, now, r, i) // R11
	}
	return r
}

func (r *run) hear(i int, a quorum.Answer) {
	if !r.begun && quorum.Planted() == quorum.BugLateT1 {
		r.round = quorum.NewRound(r.req, len(r.pipes), r.clock(), r.mix.maxTTL)
	}
	r.begun = true
	open := r.round.Ruling().Verdict == quorum.Open
	r.check.hears(r, i, a)
	if !open && a.Vote == quorum.Yes && quorum.Planted() == quorum.BugNoLateUndo {
		return
	}
	amends := r.round.Hear(i, a)
	r.amend(amends)
	verdict := r.round.Ruling().Verdict
	if !open || verdict == quorum.Open {
		return
	}
	r.check.decides(r)
	if verdict != quorum.Granted && r.req.Op == quorum.Take {
		r.blunder()
	}
	if r.decided != nil {
		r.later(0, r.decided)
	}
}

// blunder is where some planted bugs are.
func (r *run) blunder() {
	for i, q := range r.pipes {
		heard := r.audit.heard&(1<<i) != 0
		switch {
		case quorum.Planted() == quorum.BugTopUpUngranted && !heard:
			now := r.clock()
			q.owe(call{owed: true, run: r, until: now + r.req.Life, req: &quorum.Request{
				Op: quorum.TopUp, Key: r.req.Key, Token: r.req.Token, Life: r.req.Life, SetBy: now}})
		case quorum.Planted() == quorum.BugUndoOvertakes && q.current != nil:
			if s := r.dial(q.node); s != nil { // another connection of the pool
				back := &quorum.Request{Op: quorum.Release, Key: r.req.Key, Token: r.req.Token}
				s.send([]order{{words: said.Request(back, 0), req: back, until: 1 << 62}}, func([]any, bool) { s.close() })
			}
		}
	}
}

func (r *run) amend(list []quorum.Amend) {
	for _, a := range list {
		if quorum.Planted() == quorum.BugUndoOvertakes && a.Req.Op == quorum.TakeBack {
			continue // told already
		}
		r.pipes[a.Node].owe(call{req: a.Req, until: a.Until, owed: true, run: r, born: r.now})
	}
}

// asked is a command of a client on its way through a redlockd.
type asked struct {
	*proxy
	session *session
	req     *quorum.Request
	run     *run
	try     int
}

// ask begins a command of a client.
func (p *proxy) ask(s *session, req *quorum.Request) {
	a := &asked{proxy: p, session: s, req: req}
	now := p.clock()                          // T1
	p.later(p.hiccup("has read T1"), func() { // R10
		a.run = p.carry(req, now, a.decided)
	})
}

// hiccup is how long the next step takes: nothing, or a pause at that very point.
func (p *proxy) hiccup(where string) time.Duration {
	if p.faulty() && p.maybe(p.mix.hiccups) {
		d := p.about(p.mix.hiccup)
		p.count("pause at a point")
		p.say(p.name, "%s and stands still for %v", where, d.Round(time.Microsecond))
		p.paused = max(p.paused, p.now+d)
	}
	return p.between(0, 20*time.Microsecond)
}

// decided: there is a verdict. A split vote is tried again, as in quorum.Ticket.
func (a *asked) decided() {
	r := a.run.round.Ruling()
	if a.req.Op != quorum.Take || !r.Votes.Split() || a.try == a.mix.splitRetries {
		a.later(a.hiccup("has a verdict"), a.confirm)
		return
	}
	var who *run
	who = a.carry(&quorum.Request{Op: quorum.Get, Key: a.req.Key}, a.clock(), func() {
		holder := who.round.Ruling()
		if holder.Verdict == quorum.Granted || holder.Votes.Yes+holder.Votes.No < quorum.Majority(len(a.pipes)) {
			a.confirm()
			return
		}
		a.try++
		a.count("split vote, tried again")
		a.later(quorum.Jitter(a.mix.splitDelay, a.rng.Float64()), func() {
			a.run = a.carry(a.req, a.clock(), a.decided)
		})
	})
}

// confirm is the last word (T2, R14).
func (a *asked) confirm() {
	ruling, amends := a.run.round.Confirm(a.clock(), a.mix.roundLimit)
	a.check.confirms(a.run, ruling)
	a.run.amend(amends)
	a.later(a.hiccup("has read T2"), func() { a.session.answer(a, ruling) })
}

// giveBack a grant whose client could not be told.
func (a *asked) giveBack() {
	if quorum.Planted() == quorum.BugNoUndoOfTheGone {
		a.check.givenBack(a.run)
		return
	}
	a.say(a.name, "gives back %s of %s: the client is gone", a.req.Key, a.req.Token)
	a.check.givenBack(a.run)
	a.run.amend(a.run.round.Refuse(a.clock()))
}
