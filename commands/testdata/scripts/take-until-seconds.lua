return redis.call("set", KEYS[1], ARGV[1], "NX", "EXAT", ARGV[2])
