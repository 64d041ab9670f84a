if redis.call("get", KEYS[1]) ~= ARGV[1] then error("the lock is lost") end return redis.call("del", KEYS[1])
