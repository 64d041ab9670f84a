local v = redis.call("GET", KEYS[1]) if not v then return nil end return {v, redis.call("PTTL", KEYS[1])}
