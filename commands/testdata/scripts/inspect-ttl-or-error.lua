if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("ttl", KEYS[1]) else return redis.error_reply("ERROR") end
