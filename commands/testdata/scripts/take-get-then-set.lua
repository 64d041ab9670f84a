if redis.call("get", KEYS[1]) then return 0 end
redis.call("set", KEYS[1], ARGV[1])
redis.call("expire", KEYS[1], 60)
return 1
