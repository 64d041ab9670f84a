if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) end
