if redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pttl", KEYS[1]) > 1000 then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0
