local held = redis.call("get", KEYS[1])
if (held == false and ARGV[3] == "yes") or held == ARGV[1] then
  return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
end
