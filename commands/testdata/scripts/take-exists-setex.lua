return redis.call("exists", KEYS[1]) < 1 and redis.call("setex", KEYS[1], ARGV[2], ARGV[1])
