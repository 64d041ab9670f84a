redis.call("del", KEYS[1]) return "done"
