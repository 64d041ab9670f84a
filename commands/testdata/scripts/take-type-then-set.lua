if redis.call("type", KEYS[1]).ok == "none" then redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1 end return 0
