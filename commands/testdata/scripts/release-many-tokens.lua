for i, key in ipairs(KEYS) do if redis.call("get", key) ~= ARGV[i] then return 0 end end return redis.call("del", unpack(KEYS))
