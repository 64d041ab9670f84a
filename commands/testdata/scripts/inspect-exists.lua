return redis.call("exists", KEYS[1])
