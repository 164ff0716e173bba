-- Take writers again. KEYS: meta, and what else of the restore is over. ARGV: the stamp, above which epochs begin.

local stamp = redis.call('HGET', KEYS[1], 'x')
local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if stamp ~= ARGV[1] or string.sub(stamp, -#now) ~= now then
  return {'FENCED', 'the restore was taken over, or the store is another one'}
end
redis.call('HSET', KEYS[1], 'r', now, 'b', ARGV[2], 'o', string.match(stamp, '^(.-):'))
redis.call('HDEL', KEYS[1], 'x', 'w')
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return {'OK'}
