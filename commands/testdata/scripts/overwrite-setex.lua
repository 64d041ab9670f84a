redis.call("setex", KEYS[1], 30, ARGV[1]) return 1
