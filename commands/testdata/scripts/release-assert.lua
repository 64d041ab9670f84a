assert(redis.call("get", KEYS[1]) == ARGV[1], "not the owner") return redis.call("del", KEYS[1])
