local held = redis.call("mget", unpack(KEYS))
for i, _ in ipairs(KEYS) do if held[i] ~= ARGV[1] then return false end end
for i, key in ipairs(KEYS) do redis.call("pexpire", key, ARGV[2]) end
return redis.status_reply("OK")
