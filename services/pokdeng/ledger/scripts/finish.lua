-- Let the records of rounds expire, or live on. KEYS: meta, one hash a round.
-- ARGV[1]: msgpack of heads, time to live in ms (below 0: for ever).

local p = cmsgpack.unpack(ARGV[1])
local _, answer = guard(p[1])
if answer then return answer end
local ttl = string.format('%.0f', p[2])
for i = 2, #KEYS do
  if p[2] < 0 then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ttl) end
end
return {'OK'}
