if redis.call("setnx", KEYS[1], 1) == 1 then redis.call("expire", KEYS[1], ARGV[1]) return 1 end return 0
