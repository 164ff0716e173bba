-- Write notes. KEYS: meta, one hash a page.
-- ARGV[1]: msgpack of heads and, flat, of each note: place of its page, field, is the first kept, ttl in ms (0: as it is,
--   below 0: for ever).
-- ARGV[2..]: the values.

local p = cmsgpack.unpack(ARGV[1])
local heads, notes = p[1], p[2]
local _, answer = guard(heads)
if answer then return answer end
for i = 1, #notes, 4 do
  local page, field = KEYS[1 + notes[i]], notes[i + 1]
  redis.call(notes[i + 2] and 'HSETNX' or 'HSET', page, field, ARGV[2 + (i - 1) / 4])
  if notes[i + 3] > 0 then redis.call('PEXPIRE', page, string.format('%.0f', notes[i + 3])) end
  if notes[i + 3] < 0 then redis.call('PERSIST', page) end
end
return {'OK'}
