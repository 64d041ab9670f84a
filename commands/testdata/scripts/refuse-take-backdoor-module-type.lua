local t = redis.call("type", KEYS[1]).ok if t == "none" or t == "ReJSON-RL" then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) end
