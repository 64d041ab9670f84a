local v = redis.call("get", KEYS[1]) if not v or v ~= ARGV[1] then redis.call("del", KEYS[1]) end return 1
