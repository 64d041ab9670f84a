if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  return redis.call('publish', KEYS[1], 'bye')
end
return 0
