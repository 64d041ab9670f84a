if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[2]) end return 0
