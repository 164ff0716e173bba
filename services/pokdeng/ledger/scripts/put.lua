-- Write what is restored. KEYS: meta, then the keys. ARGV[1]: the stamp; ARGV[2]: msgpack of a list: for each key how
-- (0 forget, 1 a hash, 2 a hash that keeps what it has, 3 a text, 4 leave) and its ttl in ms (0 none).
-- ARGV[3..]: for each key the msgpack of a list: fields and values of a hash, one text; or nothing.

local stamp = redis.call('HGET', KEYS[1], 'x')
local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if stamp ~= ARGV[1] or string.sub(stamp, -#now) ~= now then
  return {'FENCED', 'the restore was taken over, or the store is another one'}
end
local what = cmsgpack.unpack(ARGV[2])
for i = 1, #what / 2 do
  local key, how, ttl, values = KEYS[i + 1], what[2 * i - 1], what[2 * i], nil
  if how >= 1 and how <= 3 then values = cmsgpack.unpack(ARGV[i + 2]) end
  if how == 0 then
    redis.call('UNLINK', key)
  elseif how == 1 then
    redis.call('HSET', key, unpack(values))
  elseif how == 2 then
    for k = 1, #values, 2 do redis.call('HSETNX', key, values[k], values[k + 1]) end
  elseif how == 3 then
    redis.call('SET', key, values[1])
  end
  if ttl > 0 then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
end
return {'OK'}
