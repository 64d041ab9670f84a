local r = redis.call("set", KEYS[1], ARGV[1], "ex", tonumber(ARGV[2]), "nx")
if r then return true end
return false
