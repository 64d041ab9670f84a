//go:build planted

package backend

import (
	"strings"

	"redlockd/quorum"
)

// See quorum.Bug: scripts that are wrong on purpose.

// resurrect extends a lock that is gone.
var resurrect = newScript(`local v = redis.call('GET', KEYS[1])
if v and v ~= ARGV[1] then return -2 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

func init() { scripts = append(scripts, resurrect) }

var vouchAnyMark = swap(vouch, `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
`, "")

var plantedMerge = [quorum.NumBugs]string{
	quorum.BugMergeLeaves: swap(merge, `redis.call('SET', k, blocker, 'PX', math.max(left, life))`, ``),
	quorum.BugMergeOverwrites: swap(merge, `redis.call('SET', k, blocker, 'PX', math.max(left, life))`,
		`redis.call('SET', k, token, 'PX', life)`),
	quorum.BugMergeLongest: swap(merge, `redis.call('SET', k, blocker, 'PX', math.max(left, life))`,
		`if life > left then redis.call('SET', k, token, 'PX', life) end`),
	quorum.BugMergeShortens: swap(merge, `left >= 0 and left < life then`, `left >= 0 then`),
	quorum.BugVouchAnyMark:  swap(merge, `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end`, ``),
}

func swap(text, old, new string) string {
	if strings.Count(text, old) != 1 {
		panic("backend: a planted bug does not fit its script any more: " + old)
	}
	return strings.Replace(text, old, new, 1)
}
