redis.log(redis.LOG_NOTICE, "release of " .. KEYS[1] .. " by " .. ARGV[1] .. ", key " .. #KEYS)
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
redis.log(redis.LOG_WARNING, "held by", redis.call("get", KEYS[1]))
return 0
