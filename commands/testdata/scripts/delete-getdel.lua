if redis.call("getdel", KEYS[1]) then return 1 end return 0
