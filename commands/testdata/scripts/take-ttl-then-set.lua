if redis.call("pttl", KEYS[1]) ~= -2 then return false end return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
