package model

// Scenario bounds a search: what there is, what may go wrong, and where it begins.
type Scenario struct {
	Name    string
	Without Rule // taken out

	Nodes, Proxies, Attempts, Teachers int
	TTL, Limit                         int8 // of every lock; R. In ticks
	Horizon                            int8 // the last tick
	Extends                            uint8
	Faults                             Faults
	Begins                             uint8 // marks made at most, those at the start among them
	FaultNodes                         uint8 // nodes that faults may hit, as bits; zero: all
	Jump                               int8  // of a clock step, in ticks

	// Where it begins. By default all nodes are vouched for and all proxies know it.
	Held   uint8 // attempt 0 was just granted, by these nodes
	Stands uint8 // where its key stands by now; zero: on all of Held
	Early  uint8 // where it ends in half the time: it was not extended there
	Voted  uint8 // not granted yet, the yes of these counts
	Asked  uint8 // and these have the request in the pipe
	Stale  uint8 // the token of attempt 1, which was not granted, is on these nodes
	Forgot uint8 // nodes that are not vouched for, and empty
	Looked uint8 // of Forgot: proxy 0 has asked for the mark, boot was read while it still vouched, TIME not yet
	Begun  uint8 // nodes that a teacher has begun to teach
	New    bool  // nobody is
	Midway bool  // proxy 0 has begun on all nodes but the last, and was overtaken by another admission

	Split    Split
	Coexist  bool // a proxy uses a new connection before the node has done with the old one
	Tolerant bool // clock steps are below clock-tolerance: the offset in the mark shows none
	Interval bool // a clock is known as well as the round trip allows, not exactly
	Admit    bool // P11 may be tried
	LongWait bool // P10 may be tried
	Durable  uint8
	TopUps   bool
	Releases bool
	Undos    bool
	Quiet    bool // a proxy asks for the mark only where it knows none
	Lean     bool // requests depart at once and to all; for searches to exhaustion
	Returns  bool // a clock that steps back is right again
	Strict   bool // grants before the loss of all vouched memory are not excused
}

// Split says between which commands of a flush something else can happen.
type Split uint8

// From one step a flush to one step a command.
const (
	Whole Split = iota
	TailApart
	EachApart
)

// Faults says how many of each fault may happen.
type Faults struct {
	Empty, Old, Full, Flush, Forward, Back, Cut, Crash, Lost uint8
}

// World is a state of a scenario.
type World struct {
	*Scenario
	State
}

// NewWorld is the beginning of s.
func NewWorld(s *Scenario) *World {
	if s.Begins == 0 {
		s.Begins = uint8(s.Nodes) + 8
	}
	w := &World{Scenario: s}
	f := s.Faults
	w.faults[restartEmpty], w.faults[restartOld], w.faults[restartFull] = f.Empty, f.Old, f.Full
	w.faults[flushNode], w.faults[stepForward], w.faults[stepBack] = f.Flush, f.Forward, f.Back
	w.faults[cut], w.faults[crash], w.faults[lose] = f.Cut, f.Crash, f.Lost
	w.faults[save] = f.Old
	for n := range s.Nodes {
		w.node[n].run = 1
		if !s.New && s.Forgot&bit(n) == 0 {
			w.nonce++
			w.node[n].boot = mark{nonce: w.nonce, run: 1}
		}
	}
	for p := range s.Proxies {
		for n := range s.Nodes {
			boot := w.node[n].boot
			w.link[p][n] = link{up: true, run: 1, known: boot, based: boot != mark{}}
		}
	}
	for a := range s.Attempts {
		w.attempt[a].extends = s.Extends
	}
	if s.Midway {
		w.nonce++
		w.admitter[0] = admission{stage: beginning, next: uint8(s.Nodes - 1), mark: w.nonce, reached: 1<<(s.Nodes-1) - 1}
	}
	for n, t := 0, 0; n < s.Nodes; n++ {
		if s.Begun&bit(n) != 0 {
			w.readmit(t, n)
			t++
		}
	}
	for n := range s.Nodes {
		if s.Looked&bit(n) != 0 {
			w.nonce++
			l := &w.link[0][n]
			l.known, l.based = mark{nonce: w.nonce, run: 1}, true
			w.send(0, n, flush{})
			l.pipe[0].boot, l.pipe[0].done = l.known, 2
		}
	}
	w.hold()
	w.look()
	return w
}

// hold sets what was taken before the search begins.
func (w *World) hold() {
	if w.Held != 0 {
		w.attempt[0] = attempt{stage: held, until: w.TTL, round: 1, extends: w.Extends,
			sent: w.Held, yes: w.Held, standing: w.Held}
	}
	if w.Voted != 0 {
		w.vote()
	}
	if w.Stale != 0 {
		w.attempt[1] = attempt{stage: dead, round: 1, sent: w.Stale}
	}
	stands := w.Stands
	if stands == 0 {
		stands = w.Held
	}
	for n := range w.Nodes {
		switch {
		case w.Stale&bit(n) != 0:
			w.node[n].token, w.node[n].end = 2, w.TTL
		case stands&bit(n) != 0 && w.Forgot&bit(n) == 0:
			w.node[n].token, w.node[n].end = 1, w.TTL
			if w.Early&bit(n) != 0 {
				w.node[n].end = w.TTL / 2
			}
		}
	}
}

// vote sets a round that is open: the take of attempt 0, or the extend of the lock that is held.
func (w *World) vote() {
	t := &w.attempt[0]
	f := flush{op: take, round: 1}
	if w.Held != 0 {
		t.stage, t.round, t.extends = extending, 2, t.extends-1
		t.until = w.TTL / 2
		f.op, f.round = extend, 2
	} else {
		*t = attempt{stage: taking, round: 1, standing: w.Voted}
	}
	t.sent, t.yes = w.Voted|w.Asked, w.Voted
	for n := range w.Nodes {
		if w.Asked&bit(n) != 0 {
			w.send(0, n, f)
		}
	}
}

func bit(n int) uint8 { return 1 << n }

// majority of the configured nodes (P3).
func (w *World) majority() int { return w.Nodes/2 + 1 }

// look notes whether all vouched memory is lost at once. That is accepted: a new fleet cannot
// be told from an old one. Locks that a majority had granted by then are excused.
func (w *World) look() {
	was := w.vouched
	w.vouched = false
	for n := range w.Nodes {
		if w.node[n].boot.voucher(w.node[n].run) {
			w.vouched = true
			return
		}
	}
	if !was || w.Strict {
		return
	}
	for a := range w.Attempts {
		if t := &w.attempt[a]; count(t.standing) >= w.majority() {
			t.excused = true
		}
	}
}

// purge drops what has expired.
func (w *World) purge() {
	for n := range w.Nodes {
		c := &w.node[n]
		if c.token != 0 && w.now+c.off >= c.end {
			c.token, c.end = 0, 0
		}
	}
}
