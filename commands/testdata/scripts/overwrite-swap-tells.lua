local v = redis.call("get", KEYS[1]) if v == ARGV[1] then redis.call("set", KEYS[1], ARGV[2], "PX", ARGV[3]) return ARGV[2] end return v
