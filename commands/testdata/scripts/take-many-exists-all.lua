if redis.call("exists", unpack(KEYS)) > 0 then return false end for _, key in pairs(KEYS) do redis.call("setex", key, ARGV[2], ARGV[1]) end return true
