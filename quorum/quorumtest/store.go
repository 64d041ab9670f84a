package quorumtest

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"sort"
	"time"
)

// store is the memory of a node: strings, some of which end.
type store struct {
	now  func() time.Time // the node's clock, the only one that is read
	keys map[string]entry
	// order is the keys by slot, for scan. Invariant: nil, or every key is in it; some that are gone may be, too.
	order []string
}

type entry struct {
	value string
	ends  time.Time // by the node's clock; zero: never
}

func newStore(now func() time.Time) store {
	return store{now: now, keys: map[string]entry{}}
}

func (s *store) get(key string) (entry, bool) {
	e, ok := s.keys[key]
	if ok && !e.ends.IsZero() && !s.now().Before(e.ends) {
		delete(s.keys, key)
		return entry{}, false
	}
	return e, ok
}

func (s *store) put(key string, e entry) {
	if _, known := s.keys[key]; !known {
		s.order = nil
	}
	s.keys[key] = e
}

// set a key for life, or for ever if that is zero.
func (s *store) set(key, value string, life time.Duration) {
	e := entry{value: value}
	if life > 0 {
		e.ends = s.now().Add(life)
	}
	s.put(key, e)
}

// remove says whether the key was there.
func (s *store) remove(key string) bool {
	_, found := s.get(key)
	delete(s.keys, key)
	return found
}

// pttl is in milliseconds: -1 for ever, -2 there is none.
func (s *store) pttl(key string) int64 {
	switch e, ok := s.get(key); {
	case !ok:
		return -2
	case e.ends.IsZero():
		return -1
	default:
		return e.ends.Sub(s.now()).Milliseconds()
	}
}

func (s *store) flush() {
	s.keys, s.order = map[string]entry{}, nil
}

// live keys, in any order; those that have ended are dropped.
func (s *store) live() []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(s.keys)), func(key string) bool {
		_, ok := s.get(key)
		return !ok
	})
}

// count the live keys, and those of them that end.
func (s *store) count() (keys, ending int) {
	for _, key := range s.live() {
		keys++
		if !s.keys[key].ends.IsZero() {
			ending++
		}
	}
	return keys, ending
}

// load what was saved, without what has ended since.
func (s *store) load(saved map[string]entry) {
	s.keys, s.order = maps.Clone(saved), nil
	if s.keys == nil {
		s.keys = map[string]entry{}
	}
	s.live()
}

// slot is a key's place in a scan. It is the key's alone: what else comes and goes does not move it.
func slot(key string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return uint64(h.Sum32())
}

// scan looks at count keys, from the slot that cursor is. The next cursor is the slot of the first key that it has
// not looked at, 0 if there is none. Keys of one slot are never divided: a cursor could not tell them apart, and one
// of them would be missed.
func (s *store) scan(cursor uint64, count int) (found []string, next uint64) {
	if s.order == nil {
		s.order = s.live()
		slices.SortFunc(s.order, func(a, b string) int {
			return cmp.Or(cmp.Compare(slot(a), slot(b)), cmp.Compare(a, b))
		})
	}
	first := sort.Search(len(s.order), func(i int) bool { return slot(s.order[i]) >= cursor })
	for i := first; i < len(s.order); i++ {
		if i-first >= count && slot(s.order[i]) != slot(s.order[i-1]) {
			return found, slot(s.order[i])
		}
		if _, ok := s.get(s.order[i]); ok {
			found = append(found, s.order[i])
		}
	}
	return found, 0
}

// match says whether s is like pattern, in which * is any text, ? any byte, and \ takes the next for itself. There
// are no [classes].
func match(pattern, s string) bool {
	for pattern != "" {
		c := pattern[0]
		pattern = pattern[1:]
		if c == '*' {
			for i := range len(s) + 1 {
				if match(pattern, s[i:]) {
					return true
				}
			}
			return false
		}
		if s == "" {
			return false
		}
		if c == '?' {
			s = s[1:]
			continue
		}
		if c == '\\' && pattern != "" {
			c, pattern = pattern[0], pattern[1:]
		}
		if s[0] != c {
			return false
		}
		s = s[1:]
	}
	return s == ""
}
