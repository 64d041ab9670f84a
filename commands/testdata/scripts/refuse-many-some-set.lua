local n = 0 for i, key in ipairs(KEYS) do if redis.call("set", key, ARGV[1], "NX", "PX", ARGV[2]) then n = n + 1 end end return n
