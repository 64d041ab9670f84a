if redis.call("set", "lock" .. ":" .. "all", ARGV[1], "N" .. "X", "PX", tostring(ARGV[2])) then return "took " .. "it" end
return tostring(redis.call("exists", "lock:all"))
