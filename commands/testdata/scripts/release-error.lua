if redis.call("get", KEYS[1]) ~= ARGV[1] then
  error("not the owner")
end
return redis.call("del", KEYS[1])
