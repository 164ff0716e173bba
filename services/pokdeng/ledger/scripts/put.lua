-- Write what is restored. KEYS: meta, then the keys. ARGV[1]: the stamp; ARGV[2]: msgpack of a list: for each key how
-- (0 forget, 1 a hash, 2 a hash that keeps what it has, 3 a text, 4 leave), how many values, ttl in ms (0 none).
-- ARGV[3..]: the values: fields and values of a hash, one text.

local stamp = redis.call('HGET', KEYS[1], 'x')
local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if stamp ~= ARGV[1] or string.sub(stamp, -#now) ~= now then
  return {'FENCED', 'the restore was taken over, or the store is another one'}
end
local what = cmsgpack.unpack(ARGV[2])
local at = 3
for i = 1, #what / 3 do
  local key, how, count, ttl = KEYS[i + 1], what[3 * i - 2], what[3 * i - 1], what[3 * i]
  if how == 0 then
    redis.call('UNLINK', key)
  elseif how == 1 then
    redis.call('HSET', key, unpack(ARGV, at, at + count - 1))
  elseif how == 2 then
    for k = at, at + count - 1, 2 do redis.call('HSETNX', key, ARGV[k], ARGV[k + 1]) end
  elseif how == 3 then
    redis.call('SET', key, ARGV[at])
  end
  if ttl > 0 then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
  at = at + count
end
return {'OK'}
