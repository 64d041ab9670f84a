for _, key in ipairs(KEYS) do local v = redis.call("get", key) if v and v ~= ARGV[1] then return 0 end end for _, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end return 1
