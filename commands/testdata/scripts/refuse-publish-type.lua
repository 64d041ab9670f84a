if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  if type(redis.call('publish', KEYS[1], 'bye')) == 'string' then return 2 end
  return 1
end
return 0
