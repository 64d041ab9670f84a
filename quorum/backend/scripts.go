package backend

import (
	"crypto/sha1"
	"encoding/hex"
)

// script is a Lua script of ours and the hash that nodes know it by.
type script struct{ text, hash string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text))
	return &script{text, hex.EncodeToString(sum[:])}
}

// The scripts that run on nodes. Each is one atomic step with at most one write. Clients'
// scripts never get here: they are recognised, and one of these is run in their place.
//
// What they answer is in the words of quorum: -1 is Missing, -2 is Other.
var (
	// release: the remaining milliseconds of the lock that was deleted, R7.
	release = newScript(`local v = redis.call('GET', KEYS[1])
if not v then return -1 end
if v ~= ARGV[1] then return -2 end
local left = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
if left < 0 then return 9007199254740991 end
return left`)

	// extend: ARGV[2] the new remaining milliseconds, or with ARGV[3] = 'add' what is added to
	// them, up to ARGV[4]. A key without expiry has nothing to add to.
	extend = newScript(`local v = redis.call('GET', KEYS[1])
if not v then return -1 end
if v ~= ARGV[1] then return -2 end
local life = tonumber(ARGV[2])
if ARGV[3] == 'add' then
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then return -2 end
  life = math.min(left + life, tonumber(ARGV[4]))
end
redis.call('PEXPIRE', KEYS[1], life)
return 1`)

	// takeBack: delete the lock if its token is ARGV[1] and its remaining time is not above ARGV[2].
	takeBack = newScript(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -2 end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[2]) then return -2 end
redis.call('DEL', KEYS[1])
return 1`)

	// remaining: the value and the remaining milliseconds, seen at one moment.
	remaining = newScript(`local v = redis.call('GET', KEYS[1])
if not v then return false end
return {v, redis.call('PTTL', KEYS[1])}`)

	// scripts is what a fresh connection loads.
	scripts = []*script{release, extend, takeBack, remaining}
)
