local v = redis.call("get", KEYS[1]) if not v or v == ARGV[3] and redis.call("pttl", KEYS[1]) > 50000 then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end return 0
