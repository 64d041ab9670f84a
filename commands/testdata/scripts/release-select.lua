local function first(...) return (select(1, ...)) end local key = first(unpack(KEYS)) if redis.call("get", key) == ARGV[1] then return redis.call("del", key) end return 0
