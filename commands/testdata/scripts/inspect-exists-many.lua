return redis.call("exists", unpack(KEYS)) == #KEYS
