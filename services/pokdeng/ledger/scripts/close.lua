-- Refuse every writer until the store is restored; not where this very restore has opened the bucket already.
-- KEYS: meta. ARGV: id of the restore, number of buckets, format.

if redis.call('HGET', KEYS[1], 'o') ~= ARGV[1] then
  redis.call('HSET', KEYS[1], 'r', '-', 'n', ARGV[2], 'v', ARGV[3])
end
return {'OK'}
