local r = {} r[1] = redis.call("get", KEYS[1]) == ARGV[1] if r[1] then r[2] = redis.call("del", KEYS[1]) else r[2] = 0 end return r[2]
