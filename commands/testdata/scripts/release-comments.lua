--[[ give the lock back,
     but only ours ]]
local current = redis.call("GET", KEYS[1]) -- who has it?
if current == ARGV[1] then -- we do
  return redis.call("DEL", KEYS[1])
end
return 0 -- not ours
