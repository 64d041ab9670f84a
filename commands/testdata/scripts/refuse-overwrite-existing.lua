return redis.call("set", KEYS[1], ARGV[1], "XX", "PX", ARGV[2])
