local held = redis.call("get", KEYS[1])
if not held then return redis.error_reply(string.format("there is no lock %s", KEYS[1])) end
if held ~= ARGV[1] then return redis.error_reply(("lock %s belongs to %s (%d%%)"):format(KEYS[1], held, 100)) end
return redis.status_reply("released " .. redis.call("del", KEYS[1]))
