local v = redis.call("get", KEYS[1]) if v == ARGV[1] then return redis.call("del", KEYS[1]) end return redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
