if redis.call('get', KEYS[1]) == ARGV[1] then
  if redis.call('pttl', KEYS[1]) > 5000 then redis.call('publish', KEYS[1], 'early') end
  return redis.call('del', KEYS[1])
end
return 0
