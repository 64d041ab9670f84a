if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("EXPIREAT", KEYS[1], ARGV[2]) end return 0
