return redis.call("pexpire", KEYS[1], ARGV[1])
