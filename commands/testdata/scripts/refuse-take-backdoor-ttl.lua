if redis.call("pttl", KEYS[1]) < 100 then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end
