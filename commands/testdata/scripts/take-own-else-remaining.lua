local v = redis.call("get", KEYS[1]) if not v or v == ARGV[1] then redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) return nil end return redis.call("pttl", KEYS[1])
