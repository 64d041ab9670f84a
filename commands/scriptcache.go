// The cache of scripts that all connections share: SCRIPT LOAD, EXISTS and FLUSH, EVAL and EVALSHA.

package commands

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"
)

// MaxScriptBytes bounds a script whatever script-bytes says. The Lua compiler recurses once per nested expression,
// about 500 bytes of stack for each byte of a hostile text: 32 MB at this length. A Go stack that passes 1 GB ends the process,
// and no recover can stop that.
const MaxScriptBytes = 64 << 10

// shaLength is that of a SHA1 in hex.
const shaLength = 2 * sha1.Size

// Scripts is the bounded cache of scripts, least recently used first out. Safe for concurrent use.
type Scripts struct {
	max, maxBytes int
	turns         turns

	mu     sync.Mutex
	bySHA  map[[sha1.Size]byte]*list.Element // Invariant: the same elements as in recent.
	recent *list.List                        // of *knownScript, the most recently used in front; at most max
}

// NewScripts returns an empty cache of at most max scripts, each of at most maxBytes (or MaxScriptBytes, if that is less).
func NewScripts(max, maxBytes int) *Scripts {
	if max < 1 || maxBytes < 1 {
		panic("commands: a script cache needs room for a script")
	}
	return &Scripts{
		max:      max,
		maxBytes: min(maxBytes, MaxScriptBytes),
		turns:    newTurns(),
		bySHA:    make(map[[sha1.Size]byte]*list.Element),
		recent:   list.New(),
	}
}

// turns bounds how many scripts are compiled or recognised at once: half of the processors, so that those who send new scripts without end
// leave the other half to all who send none. Who has to wait is served in the order of arrival, after at most a fraction of
// a second for each before him.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

func (t turns) compile(body []byte, sha string) (*knownScript, error) {
	t <- struct{}{}
	defer func() { <-t }()
	return compileScript(body, sha)
}

func (t turns) recognise(known *knownScript, call *callWords) (sh *shape, keep bool) {
	t <- struct{}{}
	defer func() { <-t }()
	return recognise(known, call)
}

// Load is SCRIPT LOAD: it keeps the script and returns the SHA1 of its body, in lower hex. Like Redis it says nothing about what
// the script does, only whether it compiles.
func (s *Scripts) Load(body []byte) (string, error) {
	known, err := s.load(body, func() {})
	if err != nil {
		return "", err
	}
	return known.sha, nil
}

// Exists is SCRIPT EXISTS for one SHA1, upper or lower case.
func (s *Scripts) Exists(sha string) bool {
	return s.find([]byte(sha)) != nil
}

// Flush is SCRIPT FLUSH. A call that is under way ends as it began.
func (s *Scripts) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.bySHA)
	s.recent.Init()
}

// load keeps a script, as Redis does with what it evaluates, also when it is refused. slow is called before one is compiled.
func (s *Scripts) load(body []byte, slow func()) (*knownScript, error) {
	if len(body) > s.maxBytes {
		return nil, Error(fmt.Sprintf("ERR the script is %d bytes long and script-bytes allows %d", len(body), s.maxBytes))
	}
	sum := sha1.Sum(body)
	if known := s.use(sum); known != nil {
		return known, nil
	}
	// Compiled outside the lock, so that one large text does not hold up everybody. Two connections may do it twice.
	slow()
	known, err := s.turns.compile(body, hex.EncodeToString(sum[:]))
	if err != nil {
		return nil, err
	}
	known.turns = s.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.bySHA[sum]; ok {
		return e.Value.(*knownScript), nil
	}
	s.bySHA[sum] = s.recent.PushFront(known)
	if s.recent.Len() > s.max {
		oldest := s.recent.Remove(s.recent.Back()).(*knownScript)
		delete(s.bySHA, shaSum(oldest.sha))
	}
	return known, nil
}

// find returns the script of that SHA1 or nil. What is not 40 hex digits is, as in Redis, just not there.
func (s *Scripts) find(sha []byte) *knownScript {
	if len(sha) != shaLength {
		return nil
	}
	for i := range len(sha) {
		switch c := sha[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return nil
		}
	}
	return s.use(shaSum(sha))
}

func (s *Scripts) use(sum [sha1.Size]byte) *knownScript {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.bySHA[sum]
	if !ok {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*knownScript)
}

// shaSum decodes 40 hex digits of either case.
func shaSum[text string | []byte](sha text) (sum [sha1.Size]byte) {
	nibble := func(c byte) byte {
		if c <= '9' {
			return c - '0'
		}
		return c&0x0f + 9
	}
	for i := range sum {
		sum[i] = nibble(sha[2*i])<<4 | nibble(sha[2*i+1])
	}
	return sum
}
