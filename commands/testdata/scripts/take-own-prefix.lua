if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[3]) then return redis.status_reply("OK") end
local n = tonumber(ARGV[2])
if redis.call("getrange", KEYS[1], 0, n - 1) == string.sub(ARGV[1], 1, n) then return redis.call("set", KEYS[1], ARGV[1], "px", ARGV[3]) end
