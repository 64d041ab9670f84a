return redis.call("del", KEYS[1], KEYS[2])
