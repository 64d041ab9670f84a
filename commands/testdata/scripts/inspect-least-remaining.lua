local held = redis.call("mget", unpack(KEYS))
for i, _ in ipairs(KEYS) do if held[i] ~= ARGV[1] then return false end end
local least = 0
for _, key in ipairs(KEYS) do
  local left = redis.call("pttl", key)
  if left > 0 and (least == 0 or left < least) then least = left end
end
return least
