local left = redis.call("PTTL", KEYS[1])
local least, wanted = tonumber(ARGV[2]), tonumber(ARGV[3])
if left == -2 then return {-1, -2} end
if left < least then return {0, left} end
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return {-1, left} end
redis.call("PEXPIRE", KEYS[1], wanted)
return {1, left}
