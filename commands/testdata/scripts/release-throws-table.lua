assert(#KEYS == 1, "one key")
assert(ARGV[1])
if redis.call("get", KEYS[1]) ~= ARGV[1] then
  error({err = "LOCK " .. KEYS[1] .. " is lost"})
end
return redis.call("del", KEYS[1])
