local n = tonumber(ARGV[2]) if redis.call("getrange", KEYS[1], 0, n - 1) == string.sub(ARGV[1], 1, n) then return redis.call("del", KEYS[1]) end return 0
