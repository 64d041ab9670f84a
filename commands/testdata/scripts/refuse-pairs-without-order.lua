for name, key in pairs({a = KEYS[1], b = KEYS[2]}) do return redis.call("get", key) end
