return redis.call("pttl", "lock:all")
