local n = 0
for i, key in ipairs(KEYS) do if redis.call("get", key) == ARGV[1] then redis.pcall("del", key) n = n + 1 end end
return n
