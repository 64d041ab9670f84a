return redis.call("set", KEYS[1], "locked", "NX", "PX", ARGV[1])
