if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("setex", KEYS[1], ARGV[3], ARGV[2]) return 1 else return 0 end
