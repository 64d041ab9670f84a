local v = redis.call('get', KEYS[1])
if v then redis.call('publish', KEYS[1], v) end
if v == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
