local held = redis.call("GET", KEYS[1])
if held == ARGV[1] then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return true
elseif not held then
  redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
  return true
end
return false
