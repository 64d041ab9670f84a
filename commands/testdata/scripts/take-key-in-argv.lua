return redis.call("set", ARGV[1], ARGV[2], "NX", "PX", ARGV[3])
