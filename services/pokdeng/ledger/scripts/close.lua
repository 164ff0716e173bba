-- Refuse every writer until the store is restored. KEYS: meta. ARGV: number of buckets, format.

redis.call('HSET', KEYS[1], 'r', '-', 'n', ARGV[1], 'v', ARGV[2])
return {'OK'}
