package backend

import (
	"crypto/sha1"
	"encoding/hex"

	"redlockd/quorum"
)

// script is a Lua script of ours and the hash that nodes know it by.
type script struct{ text, hash string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text))
	return &script{text, hex.EncodeToString(sum[:])}
}

// blocked is the part of a script that answers Blocked for a key that somebody unknown holds (P8).
const blocked = `if v == '` + quorum.Blocker + `' then return -3 end
`

// The scripts that run on nodes for clients. Each is one atomic step with at most one write. Clients'
// scripts never get here: they are recognised, and one of these is run in their place.
//
// What they answer is in the words of quorum: -1 is Missing, -2 is Other, -3 is Blocked.
var (
	// release: the remaining milliseconds of the lock that was deleted, R7.
	release = newScript(`local v = redis.call('GET', KEYS[1])
if not v then return -1 end
` + blocked + `if v ~= ARGV[1] then return -2 end
local left = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
if left < 0 then return 9007199254740991 end
return left`)

	// extend: ARGV[2] the new remaining milliseconds, or with ARGV[3] = 'add' what is added to
	// them, up to ARGV[4]. A key without expiry has nothing to add to.
	extend = newScript(`local v = redis.call('GET', KEYS[1])
if not v then return -1 end
` + blocked + `if v ~= ARGV[1] then return -2 end
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

	// topUp: the lock of ARGV[1] has ARGV[2] milliseconds left.
	topUp = newScript(`local v = redis.call('GET', KEYS[1])
if not v then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
if v ~= ARGV[1] then return -2 end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`)

	// inspectKeys: of every key the value and the remaining milliseconds, seen at one moment.
	inspectKeys = newScript(`local out = {}
for i, k in ipairs(KEYS) do
  local v = redis.call('GET', k)
  out[2 * i - 1] = v
  out[2 * i] = v and redis.call('PTTL', k) or -2
end
return out`)

	// takeMany: take every key for its token, one for each, or none. Behind the tokens: the new remaining milliseconds; what a
	// key may be that holds its token already, '` + ownRefused + `', '` + ownEach + `' or '` + ownAll + `'; how many bytes of a token are compared, 0 for all.
	// It answers how many held theirs, and when the keys that it has set anew expire (quorum.Answer.Stamp). One that is taken
	// again gets an expiry that differs from the one it had, and from that: see quorum.Round's takeBack.
	takeMany = newScript(`local n, mine, held = #KEYS, 0, {}
local life, own, prefix = tonumber(ARGV[n + 1]), ARGV[n + 2], tonumber(ARGV[n + 3])
local function same(a, b)
  return a == b or prefix > 0 and string.sub(a, 1, prefix) == string.sub(b, 1, prefix)
end
for i, k in ipairs(KEYS) do
  local v = redis.call('GET', k)
  if v then
    if own == '` + ownRefused + `' then return {-2, 0} end
    if v == '` + quorum.Blocker + `' then return {-3, 0} end
    if not same(v, ARGV[i]) then return {-2, 0} end
    mine, held[i] = mine + 1, true
  end
end
if own == '` + ownAll + `' and mine > 0 and mine < n then return {-2, 0} end
local t = redis.call('TIME')
for i, k in ipairs(KEYS) do
  local px = life
  if held[i] then
    if mine < n then px = life + 20 end
    if math.abs(redis.call('PTTL', k) - px) <= 10 then px = px + 20 end
  end
  redis.call('SET', k, ARGV[i], 'PX', px)
end
return {mine, t[1] * 1000 + math.floor(t[2] / 1000) + life}`)

	// releaseMany: delete every key that holds its token, one for each; with a further argument 'all', all or none. It answers how many,
	// or why none, and the longest remaining milliseconds among them.
	releaseMany = newScript(`local n, missing, mine, blocked, left = #KEYS, 0, {}, false, 0
for i, k in ipairs(KEYS) do
  local v = redis.call('GET', k)
  if v == ARGV[i] then
    mine[#mine + 1] = k
    local l = redis.call('PTTL', k)
    if l < 0 then l = 9007199254740991 end
    left = math.max(left, l)
  elseif not v then missing = missing + 1
  elseif v == '` + quorum.Blocker + `' then blocked = true end
end
if blocked then return {-3, 0} end
if ARGV[n + 1] == 'all' and #mine < n then
  if missing == n then return {-1, 0} end
  return {-2, 0}
end
for _, k in ipairs(mine) do redis.call('DEL', k) end
return {#mine, left}`)

	// extendMany: behind the tokens the new remaining milliseconds of all keys, if each holds its token.
	extendMany = newScript(`local n, missing, other, blocked = #KEYS, 0, false, false
for i, k in ipairs(KEYS) do
  local v = redis.call('GET', k)
  if not v then missing = missing + 1
  elseif v == '` + quorum.Blocker + `' then blocked = true
  elseif v ~= ARGV[i] then other = true end
end
if other then return -2 end
if blocked then return -3 end
if missing == n then return -1 end
if missing > 0 then return -2 end
for _, k in ipairs(KEYS) do redis.call('PEXPIRE', k, ARGV[n + 1]) end
return 1`)

	// takeBackMany: of every key for itself, delete it if it holds its token and expires when this attempt made it: behind the tokens
	// the most milliseconds that it may have left; the instant by the node's clock, or 0; and by how much it may be earlier
	// (quorum.Request.Stamp).
	takeBackMany = newScript(`local n, undone = #KEYS, 0
local most, stamp, spread, now = tonumber(ARGV[n + 1]), tonumber(ARGV[n + 2]), tonumber(ARGV[n + 3]), 0
if stamp > 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
for i, k in ipairs(KEYS) do
  if redis.call('GET', k) == ARGV[i] then
    local left = redis.call('PTTL', k)
    local early = stamp - now - left
    if left >= 0 and left <= most and (stamp == 0 or early >= -5 and early <= spread + 5) then undone = undone + redis.call('DEL', k) end
  end
end
return undone`)

	// topUpMany: behind the tokens the milliseconds that the lock of all keys has left.
	topUpMany = newScript(`local n = #KEYS
local life = tonumber(ARGV[n + 1])
for i, k in ipairs(KEYS) do
  local v = redis.call('GET', k)
  if not v then
    redis.call('SET', k, ARGV[i], 'PX', life)
  elseif v == ARGV[i] then
    local left = redis.call('PTTL', k)
    if left >= 0 and left < life then redis.call('PEXPIRE', k, life) end
  end
end
return 1`)

	// change: what has a condition, or answers the value from before. ARGV[1] is the condition, ARGV[2] the value that it is about;
	// ARGV[3] is what is to be done: 'set' to ARGV[4] for ARGV[5] milliseconds, 'delete', or 'expire' in ARGV[5]. It answers whether
	// it was done, and the value from before.
	change = newScript(`local want, was, act, life = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[5])
local v = redis.call('GET', KEYS[1])
if v == '` + quorum.Blocker + `' then return {-3, false} end
local left = -2
if v then left = redis.call('PTTL', KEYS[1]) end
local ok = true
if want == 'missing' then ok = not v
elseif want == 'exists' then ok = v
elseif want == 'equal' then ok = v == was
elseif want == 'not-equal' then ok = v ~= was
elseif want == 'no-expiry' then ok = left == -1
elseif want == 'expiry' then ok = left >= 0
elseif want == 'later' then ok = left >= 0 and life > left
elseif want == 'sooner' then ok = left == -1 or life < left end
if act ~= 'set' and not v then ok = false end
if not ok then return {0, v} end
if act == 'set' then redis.call('SET', KEYS[1], ARGV[4], 'PX', life)
elseif act == 'delete' then redis.call('DEL', KEYS[1])
else redis.call('PEXPIRE', KEYS[1], life) end
return {1, v}`)

	// size: how many keys there are that are not ours.
	size = newScript(`return redis.call('DBSIZE') - redis.call('EXISTS', KEYS[1], KEYS[2])`)

	// scripts is what a fresh connection loads.
	scripts = []*script{
		release, extend, takeBack, topUp, inspectKeys, size, takeMany, releaseMany, extendMany, takeBackMany, topUpMany, change,
	}
)

// What takeMany is told of quorum.Own.
const (
	ownRefused = "refused"
	ownEach    = "each"
	ownAll     = "all"
)

// The scripts of readmission. A mark is changed by nothing else. They are called by their text: seldom enough.
const (
	// unvouch replaces the mark, if it begins with ARGV[1], by ARGV[2], which vouches for nothing; if ARGV[1] is empty, whatever mark
	// vouches (P4). A lesson's mark is left alone: the lesson looks at the clock itself (P9). A node whose memory is full refuses to set
	// anything: there the mark is deleted, which it does not refuse.
	unvouch = `local m = redis.call('GET', KEYS[1])
if m and m ~= ARGV[2] and string.sub(m, 1, #ARGV[1]) == ARGV[1] and string.sub(m, 1, 9) ~= 'teaching:' then
  local set = redis.pcall('SET', KEYS[1], ARGV[2])
  if set.err then redis.call('DEL', KEYS[1]) end
  return 1
end
return 0`

	// renew replaces the mark ARGV[1] by ARGV[2], which differs in its offset.
	renew = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

	// begin sets the mark of our lesson with the nonce ARGV[2], unless the node is vouched for, which is what a mark that begins
	// with ARGV[1] says (P5), or another redlockd teaches it. That one is named by the second key, for ARGV[4]
	// milliseconds at a time: what lasts longer was left behind by a clock that jumped. ARGV[5] = 'force' is an operator's
	// word against it, and who is 'able' to teach need not mind one that only waits for teachers (P10). That a node is spoilt stays in its mark until it is vouched for; ARGV[5] = 'new', for a fleet that is
	// new, refuses it (P11). It answers what it did, the node's time, the mark before, and ours.
	begin = `local m = redis.call('GET', KEYS[1]) or ''
local t = redis.call('TIME')
local function say(what, mark) return {what, t[1], t[2], m, mark} end
if string.sub(m, 1, #ARGV[1]) == ARGV[1] then return say('vouched', '') end
local spoilt = m == '` + quorum.SpoiltMark + `' or string.sub(m, 1, 15) == 'teaching:again-'
if spoilt and ARGV[5] == 'new' then return say('spoilt', '') end
local other = redis.call('GET', KEYS[2])
local ours = other == ARGV[3] or other == ARGV[3] .. ':waits'
local idle = other and string.sub(other, -6) == ':waits' and (ARGV[5] == 'able' or ARGV[5] == 'new')
if other and not ours and not idle and ARGV[5] ~= 'force' then
  local left = redis.call('PTTL', KEYS[2])
  if left >= 0 and left <= tonumber(ARGV[4]) then return say('busy', '') end
end
local mark = 'teaching:' .. (spoilt and 'again-' or '') .. ARGV[2]
redis.call('SET', KEYS[1], mark)
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
return say('begun', mark)`

	// tend tells others that we still teach, or with ARGV[3] = ':waits' that we wait for teachers, and answers the mark and the
	// node's time.
	tend = `local other = redis.call('GET', KEYS[2])
if other == ARGV[1] or other == ARGV[1] .. ':waits' then redis.call('SET', KEYS[2], ARGV[1] .. ARGV[3], 'PX', ARGV[2]) end
local t = redis.call('TIME')
return {redis.call('GET', KEYS[1]) or '', t[1], t[2]}`

	// leave lets others teach.
	leave = `local other = redis.call('GET', KEYS[2])
if other == ARGV[1] or other == ARGV[1] .. ':waits' then return redis.call('DEL', KEYS[2]) end
return 0`

	// page reads some of the keys from cursor ARGV[1] on (P7): the next cursor, the node's time, then key, value and remaining
	// milliseconds of every lock among them. What is ours, no string, or without an expiry is no lock (R8). What
	// is too long to be a lock of ours, but might be one of another redlockd's, is read as a blocker.
	page = `local found = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
local t = redis.call('TIME')
local out = {found[1], t[1], t[2]}
for _, k in ipairs(found[2]) do
  if string.sub(k, 1, #ARGV[3]) ~= ARGV[3] or string.sub(k, 1, #ARGV[6]) == ARGV[6] then
    local left = redis.call('PTTL', k)
    local size = redis.pcall('STRLEN', k)
    if left >= 0 and type(size) == 'number' then
      out[#out + 1] = k
      if size > tonumber(ARGV[4]) then out[#out + 1] = ARGV[5] else out[#out + 1] = redis.call('GET', k) end
      out[#out + 1] = left
    end
  end
end
return out`

	// merge puts the locks KEYS[2] and on, each with its token and remaining milliseconds, on a node that is being taught
	// under the mark ARGV[1] (P8). Nothing is shortened or deleted. A key that another token holds is blocked: which of the
	// two is alive is not known, so that nobody may have it, release it or extend it until both would have ended.
	merge = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local blocker = ARGV[2]
for i = 2, #KEYS do
  local k, token, life = KEYS[i], ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local v = redis.pcall('GET', k)
  if not v then
    redis.call('SET', k, token, 'PX', life)
  elseif type(v) == 'string' then
    local left = redis.call('PTTL', k)
    if v == token then
      if left >= 0 and left < life then redis.call('PEXPIRE', k, life) end
    elseif left >= 0 then
      redis.call('SET', k, blocker, 'PX', math.max(left, life))
    end
  end
end
return #KEYS - 1`

	// vouch replaces the mark of our lesson ARGV[1] by ARGV[2], if it still stands and the node's clock is between ARGV[3] and
	// ARGV[4], in microseconds (P9).
	vouch = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
if now < tonumber(ARGV[3]) or now > tonumber(ARGV[4]) then return 'clock' end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
return 'vouched'`
)
