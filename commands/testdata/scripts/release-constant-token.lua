if redis.call("get", KEYS[1]) == "locked" then return redis.call("del", KEYS[1]) end return 0
