-- Forget owners and what they counted; w: from now on it is torn. KEYS: meta. ARGV: the stamp.

local stamp = redis.call('HGET', KEYS[1], 'x')
local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if stamp ~= ARGV[1] or string.sub(stamp, -#now) ~= now then
  return {'FENCED', 'the restore was taken over, or the store is another one'}
end
redis.call('HSET', KEYS[1], 'w', '1')
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.match(field, '^[ecgf]:') then redis.call('HDEL', KEYS[1], field) end
end
return {'OK'}
