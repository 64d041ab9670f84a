package model

// The bounds of a state. Everything is in arrays, so that a state is copied, compared and hashed as it is.
const (
	maxNodes    = 5
	maxProxies  = 3
	maxAttempts = 5
	maxTeachers = 2
	pipeLength  = 4 // flushes on their way, to the node or back
	ghostLength = 3 // requests of a dead connection that the node may still carry out
)

// blocker is the value of a key that is held by somebody unknown (P8). Attempt i has the token i+1.
const blocker = 255

// mark is the value of redlockd:boot (P1): absent (zero), teaching:<nonce> (run is zero), or vouched for.
type mark struct {
	nonce uint8
	run   uint8
	off   int8 // the node's clock minus the true time when it was vouched for
	scar  bool // somebody has vouched for this memory before: it is not that of a new fleet
}

// voucher says whether m vouches for the instance run of a node.
func (m mark) voucher(run uint8) bool { return m.run != 0 && m.run == run }

// node is one master: its memory, its clock, and the last snapshot on its disk.
type node struct {
	boot  mark
	token uint8 // of the one lock that there is; zero: no key
	end   int8  // when the key expires, on the node's clock
	off   int8  // the node's clock minus the true time
	run   uint8 // run_id, from 1
	disk  image
}

type image struct {
	boot  mark
	token uint8
	end   int8
	taken bool
}

// flush is one batch down a pipe: a request and its tail, GET boot and TIME (P2).
type flush struct {
	op      op
	attempt uint8
	round   uint8
	reply   reply
	left    int8 // of a top-up: the remaining time when it departed
	done    uint8
	sent    int8 // true time when it departed
	known   mark // the vouched value that the proxy knew when it departed; of an unvouch: what to delete
	boot    mark // what the tail read
	off     int8 // what the tail read of the clock
	at      int8 // true time when it did
}

// commands of a flush: the request, GET boot, TIME.
const commands = 3

type op uint8

const (
	poll op = iota // only the tail
	take
	extend
	release
	undo
	topUp
	unvouch    // delete boot if it is flush.known
	unvouchAny // delete boot if it vouches
)

type reply uint8

const (
	unknown reply = iota
	yes
	no
)

// ghost is a request of a connection that is dead for the proxy and not yet for the node.
type ghost struct {
	op      op
	attempt uint8
	left    int8
	known   mark
}

// link is what a proxy has of a node: the pipe, and what it knows.
type link struct {
	up    bool
	asked int8  // when the mark was last asked for: once a tick at most
	run   uint8 // that the connection reported when it was opened
	known mark  // the vouched value that is known, or zero
	// lo and hi bound the node's clock minus ours: the kept baseline.
	based  bool
	lo, hi int8
	// A clock step was seen, and the value doubt with it (P4).
	doubting doubting
	doubt    mark

	pipe   [pipeLength]flush // carried out and not yet read, then not yet carried out
	length uint8
	ghosts [ghostLength]ghost
	haunt  uint8 // how many ghosts
}

type doubting uint8

const (
	trusting  doubting = iota
	mustTell           // the unvouch is to be sent
	told               // it was sent
	wantFresh          // it was answered: another value is wanted
)

// attempt is one take and the life of its lock. Its token is used once.
type attempt struct {
	stage    stage
	proxy    uint8
	began    int8 // T1 of the round that is open
	until    int8 // the holder believes until then
	round    uint8
	extends  uint8 // left
	sent     uint8 // nodes that got the round's request
	yes      uint8 // nodes whose yes to it counts
	told     uint8 // nodes that were told the release, the undo or the top-up
	standing uint8 // nodes that said yes to the take while they were vouched for
	excused  bool  // all vouched memory was lost after a majority had said yes
}

type stage uint8

const (
	idle stage = iota
	taking
	held
	extending
	released
	dead // never granted
)

// teacher is one readmission of a node, P5 to P9.
type teacher struct {
	active bool
	node   uint8
	mark   uint8
	off    int8 // the node's TIME at begin
	began  int8 // when begin was answered
	whole  bool // the node loaded a complete file, and the old mark says that nothing was missing in it (P13)
	wiped  bool
	source [maxNodes]scan
}

// scan is the reading of one source.
type scan struct {
	stage scanStage
	boot  mark
	off   int8
	run   uint8
	token uint8
	left  int8
}

type scanStage uint8

const (
	unread scanStage = iota
	opened           // the mark was read before the first key
	copied           // the keys were read
	sound            // the mark was read again, and is the same
	merged           // the keys are on the node that is taught
)

// admission is the beginning of a new fleet by one proxy (P11).
type admission struct {
	stage   admitStage
	next    uint8 // the node whose turn it is
	mark    uint8
	began   int8
	reached uint8
}

type admitStage uint8

const (
	notAdmitting admitStage = iota
	beginning
	checking
	vouching
)

// State is all there is at one moment.
type State struct {
	now      int8
	nonce    uint8 // the last one used
	vouched  bool  // some node is vouched for
	double   uint8 // attempts that hold at once, as bits: the violation
	node     [maxNodes]node
	link     [maxProxies][maxNodes]link
	attempt  [maxAttempts]attempt
	teacher  [maxTeachers]teacher
	admitter [maxProxies]admission
	faults   [kinds]uint8 // how many of each may still happen
}
