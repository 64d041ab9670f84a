local r = redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
if type(r) == "table" and r.ok == "OK" then return "taken" end
return "busy"
