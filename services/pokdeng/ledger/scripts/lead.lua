-- Take or keep the lead of a restore. KEYS: restore, lease of the lead. ARGV: id, who, lease in ms, the term to keep or 0.
-- Answers OK and the term, 0 where another one leads, or where the one to keep has lapsed.

if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return {'FENCED', 'the restore is another one'} end
local leader = redis.call('GET', KEYS[2])
if leader and leader ~= ARGV[2] then return {'OK', '0'} end
if ARGV[4] ~= '0' and (not leader or redis.call('HGET', KEYS[1], 'term') ~= ARGV[4]) then return {'OK', '0'} end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if leader then return {'OK', redis.call('HGET', KEYS[1], 'term')} end
return {'OK', string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'term', 1))}
