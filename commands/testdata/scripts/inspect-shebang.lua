#!lua flags=no-writes
return redis.call("pttl", KEYS[1])
