redis.pcall("SELECT", tonumber(ARGV[1]))
for i, key in ipairs(KEYS) do if redis.call("get", key) ~= ARGV[2] then return 0 end end
for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[2], "PX", ARGV[3]) end
return #KEYS
