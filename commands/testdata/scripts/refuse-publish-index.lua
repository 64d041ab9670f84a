if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  return ({[0] = 2})[redis.call('publish', KEYS[1], 'bye')] or 1
end
return 0
