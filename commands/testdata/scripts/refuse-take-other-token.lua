if redis.call("get", KEYS[1]) == ARGV[3] then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end return redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
