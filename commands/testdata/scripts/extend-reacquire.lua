
    local held = redis.call('get', KEYS[1])
    if not held or held ~= ARGV[1] then
        return 0
    end
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
