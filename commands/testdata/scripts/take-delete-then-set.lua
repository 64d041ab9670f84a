if redis.call("exists", KEYS[1]) == 1 then return 0 end redis.call("del", KEYS[1]) redis.call("set", KEYS[1], ARGV[1]) redis.call("pexpire", KEYS[1], ARGV[2]) return 1
