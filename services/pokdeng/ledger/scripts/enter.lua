-- Bring the epochs that the home buckets gave out into this bucket.
-- KEYS: meta. ARGV[1]: msgpack of a list: name and epoch a source.
-- Answers OK and the counted calls of each source; OVER, the source and its epoch where a higher one is here.

local sources = cmsgpack.unpack(ARGV[1])
local answer = lost(redis.call('HGET', KEYS[1], 'r'))
if answer then return answer end
for i = 1, #sources, 2 do
  local epoch = redis.call('HGET', KEYS[1], 'e:' .. sources[i])
  if epoch and tonumber(epoch) > sources[i + 1] then return {'OVER', sources[i], epoch} end
end
local out = {'OK'}
for i = 1, #sources, 2 do
  redis.call('HSET', KEYS[1], 'e:' .. sources[i], string.format('%.0f', sources[i + 1]))
  redis.call('HSETNX', KEYS[1], 'c:' .. sources[i], '0')
  out[#out + 1] = redis.call('HGET', KEYS[1], 'c:' .. sources[i])
end
return out
