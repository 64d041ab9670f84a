local function live(ttl) for _, key in ipairs(KEYS) do redis.call("pexpire", key, ttl) end end
local function begins()
  local n = tonumber(ARGV[2])
  for _, key in ipairs(KEYS) do
    if redis.call("getrange", key, 0, n - 1) ~= string.sub(ARGV[1], 1, n) then return false end
  end
  return true
end
local pairs_of = {}
for _, key in ipairs(KEYS) do table.insert(pairs_of, key) table.insert(pairs_of, ARGV[1]) end
if redis.call("msetnx", unpack(pairs_of)) ~= 1 then
  if begins() == false then return false end
  redis.call("mset", unpack(pairs_of))
end
live(ARGV[3])
return redis.status_reply("OK")
