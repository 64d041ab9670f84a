local v = redis.call("get", KEYS[1]) if not v or v == "stale" then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end
