if redis.call("get", "lock:" .. KEYS[1]) == ARGV[1] then return redis.call("del", "lock:" .. KEYS[1]) end return 0
