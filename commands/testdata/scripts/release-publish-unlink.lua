-- unlock, and wake those that wait
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return false end
if redis.call('UNLINK', KEYS[1]) == 1 then
  redis.call('PUBLISH', ARGV[2], KEYS[1])
  return true
end
return false
