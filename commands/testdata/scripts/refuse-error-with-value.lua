local v = redis.call("get", KEYS[1]) if v ~= ARGV[1] then error(v) end return redis.call("del", KEYS[1])
