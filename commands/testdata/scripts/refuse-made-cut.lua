if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("del", KEYS[1]) return ("%s"):format(ARGV[1]):sub(1, 1) end return 0
