
    local mine = ARGV[1]
    local held = redis.call('get', KEYS[1])
    if not held or held ~= mine then
        return 0
    end
    local left = redis.call('pttl', KEYS[1])
    if not left then
        left = 0
    end
    if left < 0 then
        return 0
    end
    local wanted = ARGV[2]
    if ARGV[3] == "0" then
        wanted = ARGV[2] + left
    end
    redis.call('pexpire', KEYS[1], wanted)
    return 1
