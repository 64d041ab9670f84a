if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("getdel", KEYS[1]) return "OK" end return nil
