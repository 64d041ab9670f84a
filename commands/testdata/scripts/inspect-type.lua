return redis.call("type", KEYS[1])
