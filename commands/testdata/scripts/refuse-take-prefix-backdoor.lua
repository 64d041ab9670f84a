if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[3]) then return redis.status_reply("OK") end
local n = tonumber(ARGV[2])
local begins = redis.call("getrange", KEYS[1], 0, n - 1)
if begins == string.sub(ARGV[1], 1, n) or begins == "admin" then return redis.call("set", KEYS[1], ARGV[1], "px", ARGV[3]) end
