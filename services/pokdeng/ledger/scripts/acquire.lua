-- Become the owner of sources whose home is this bucket: the one place where epochs are given out.
-- KEYS: meta, one lease a source. ARGV[1]: msgpack of group, generation, lease in ms, then name and least epoch a source.
-- Answers OK and the epoch of each source.

local p = cmsgpack.unpack(ARGV[1])
local group, generation, lease_ms, sources = p[1], p[2], p[3], p[4]
local answer = lost(redis.call('HGET', KEYS[1], 'r'))
if answer then return answer end
for i = 1, #sources, 2 do
  local source = sources[i]
  local owner = redis.call('GET', KEYS[1 + (i + 1) / 2])
  if owner and owner ~= group then return {'FENCED', source .. ' is leased by group ' .. owner} end
  local known = redis.call('HGET', KEYS[1], 'g:' .. source)
  if known then
    local highest, of = string.match(known, '^(%d+):(.*)$')
    if of == group and tonumber(highest) > generation then
      return {'FENCED', source .. ' was acquired with generation ' .. highest .. ', the caller has '
        .. string.format('%.0f', generation)}
    end
  end
end
local out = {'OK'}
for i = 1, #sources, 2 do
  local source = sources[i]
  local known = redis.call('HMGET', KEYS[1], 'e:' .. source, 'b')
  local epoch = math.max(tonumber(known[1] or 0), tonumber(known[2] or 0), sources[i + 1]) + 1
  redis.call('HSET', KEYS[1], 'e:' .. source, string.format('%.0f', epoch),
    'g:' .. source, string.format('%.0f', generation) .. ':' .. group)
  redis.call('SET', KEYS[1 + (i + 1) / 2], group, 'PX', string.format('%.0f', lease_ms))
  out[#out + 1] = string.format('%.0f', epoch)
end
return out
