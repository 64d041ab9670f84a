if redis.call("getrange", KEYS[1], 0, 4) == string.sub(ARGV[1], 1, 3) then return redis.call("del", KEYS[1]) end return 0
