if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  if redis.call(string.sub('publishing', 1, 7), KEYS[1], 'bye') == 0 then return 2 end
  return 1
end
return 0
