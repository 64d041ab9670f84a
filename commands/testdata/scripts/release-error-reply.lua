local v = redis.call("get", KEYS[1])
if v == ARGV[1] then
  return redis.call("del", KEYS[1])
elseif not v then
  return redis.status_reply("OK")
end
return redis.error_reply("ERROR")