if redis.call("exists", KEYS[1]) == 0 then redis.call("getset", KEYS[1], ARGV[1]) redis.call("pexpire", KEYS[1], ARGV[2]) return 1 end return 0
