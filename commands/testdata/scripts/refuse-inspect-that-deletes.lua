if redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pttl", KEYS[1]) > 50000 then return redis.call("del", KEYS[1]) end return 0
