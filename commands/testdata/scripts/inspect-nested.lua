local all = {} for i, key in ipairs(KEYS) do all[i] = {key, redis.call("get", key), redis.call("ttl", key)} end return all
