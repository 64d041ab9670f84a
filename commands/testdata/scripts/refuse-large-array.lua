local t = {} for i = 1, 250 do t[i] = {i} end return {redis.call("get", KEYS[1]), t}
