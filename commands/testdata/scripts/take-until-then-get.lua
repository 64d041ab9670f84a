local r = redis.call("SET", KEYS[1], ARGV[1], "NX", "PXAT", ARGV[2]) redis.call("GET", KEYS[1]) return r
