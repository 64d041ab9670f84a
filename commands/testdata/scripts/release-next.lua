local _, key = next(KEYS) if redis.call("get", key) == ARGV[1] then return redis.call("del", key) end return 0
