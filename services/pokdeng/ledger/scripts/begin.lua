-- Begin a restore, or find that under way. KEYS: meta, restore. ARGV: a new id, number of buckets, format.
-- Answers OK and the id; an empty one where the bucket takes writers, and is the one that others follow.

local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local known = redis.call('HMGET', KEYS[1], 'r', 'n')
if known[1] == now then return {'OK', ''} end
if known[2] and known[2] ~= ARGV[2] then
  return {'CORRUPT', 'created with ' .. known[2] .. ' buckets, to be restored with ' .. ARGV[2]}
end
redis.call('HSET', KEYS[1], 'r', '-', 'n', ARGV[2], 'v', ARGV[3])
redis.call('HSETNX', KEYS[2], 'id', ARGV[1])
return {'OK', redis.call('HGET', KEYS[2], 'id')}
