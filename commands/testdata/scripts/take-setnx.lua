return redis.call("setnx", KEYS[1], ARGV[1])
