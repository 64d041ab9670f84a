local t = {a1 = KEYS[1]} if redis.call("get", t["a" .. ARGV[1]] or KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0
