if redis.call("msetnx", KEYS[1], ARGV[1]) == 1 then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0
