if redis.call('get', KEYS[1]) == ARGV[1] then
  if redis.call('publish', KEYS[1], 'bye') > 0 then return 2 end
  return redis.call('del', KEYS[1])
end
return 0
