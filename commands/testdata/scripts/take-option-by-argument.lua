return redis.call("set", KEYS[1], ARGV[1], ARGV[3], ARGV[2], ARGV[4])
