return redis.call("mget", unpack(KEYS))
