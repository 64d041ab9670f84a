if redis.call("exists", KEYS[1]) == 0 then return redis.call("psetex", KEYS[1], ARGV[2], ARGV[1]) end return nil
