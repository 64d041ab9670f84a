if redis.call("GET", KEYS[1]) == ARGV[1] then local r = redis.call("PEXPIREAT", KEYS[1], ARGV[2]) redis.call("GET", KEYS[1]) return r end return 0
