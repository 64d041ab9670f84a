if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], math.max(tonumber(ARGV[2]), 1)) end return 0
