local f = string["for" .. "mat"] if redis.call("get", KEYS[1]) == f("%s", ARGV[1]) then return redis.call("del", KEYS[1]) end return 0
