-- Make an empty bucket, once. KEYS: meta. ARGV: number of buckets, version of the format.

local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
redis.call('HSETNX', KEYS[1], 'n', ARGV[1])
redis.call('HSETNX', KEYS[1], 'v', ARGV[2])
redis.call('HSETNX', KEYS[1], 'r', now)
return {'OK'}
