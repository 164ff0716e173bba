-- Let the records of rounds expire. KEYS: meta, one hash a round. ARGV[1]: msgpack of heads, time to live in ms.

local p = cmsgpack.unpack(ARGV[1])
local _, answer = guard(p[1])
if answer then return answer end
local ttl = string.format('%.0f', p[2])
for i = 2, #KEYS do redis.call('PEXPIRE', KEYS[i], ttl) end
return {'OK'}
