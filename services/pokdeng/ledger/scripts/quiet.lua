-- Owners say that they are quiet. KEYS: restore, when each source is quiet. ARGV: id, then source and wait in ms.
-- Answers OK and, for each source that was asked with a wait of -1, in how many ms it is quiet, or ? .

if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return {'FENCED', 'the restore is another one'} end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local out = {'OK'}
for i = 2, #ARGV, 2 do
  local known, wait = tonumber(redis.call('HGET', KEYS[2], ARGV[i]) or nil), tonumber(ARGV[i + 1])
  if wait >= 0 then
    if not known or known > now + wait then
      redis.call('HSET', KEYS[2], ARGV[i], string.format('%.0f', now + wait))
    end
  else
    out[#out + 1] = known and string.format('%.0f', math.max(0, known - now)) or '?'
  end
end
return out
