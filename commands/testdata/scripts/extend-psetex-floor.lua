if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("psetex", KEYS[1], math.floor(ARGV[2]), ARGV[1]) return 1 end return 0
