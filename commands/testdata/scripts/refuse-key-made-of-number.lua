return redis.call("set", #ARGV + 2, ARGV[1], "NX")
