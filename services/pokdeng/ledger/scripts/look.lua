-- What is stored of this bucket, and on which server it lies now. KEYS: meta. Writes nothing.
-- Answers OK, then number of buckets, format, the run id it was verified under ('' where there is none), the server's
-- run id, its maxmemory in bytes and its policy.

local stored = redis.call('HMGET', KEYS[1], 'n', 'v', 'r')
local memory = redis.call('INFO', 'memory')
return {'OK', stored[1] or '', stored[2] or '', stored[3] or '',
  string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'),
  string.match(memory, 'maxmemory:(%d+)') or '0', string.match(memory, 'maxmemory_policy:([%w-]+)') or ''}
