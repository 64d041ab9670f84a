redis.call("del", unpack(KEYS)) return "done"
