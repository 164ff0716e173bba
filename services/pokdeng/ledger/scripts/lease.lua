-- Renew the leases of sources whose home is this bucket, or end them (0 ms): only those that the caller still owns.
-- KEYS: meta, one lease a source. ARGV[1]: msgpack of heads, group, lease in ms.

local p = cmsgpack.unpack(ARGV[1])
local heads, group, lease_ms = p[1], p[2], p[3]
local _, answer = guard(heads)
if answer then return answer end
for i = 1, #heads / 4 do
  if lease_ms > 0 then
    redis.call('SET', KEYS[1 + i], group, 'PX', string.format('%.0f', lease_ms))
  elseif redis.call('GET', KEYS[1 + i]) == group then
    redis.call('DEL', KEYS[1 + i])
  end
end
return {'OK'}
