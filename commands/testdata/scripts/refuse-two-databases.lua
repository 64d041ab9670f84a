if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("select", 1) return redis.call("del", KEYS[1]) end return 0
