-- Have a bucket take what the leader of a term writes. KEYS: meta. ARGV: id, term.
-- Answers OK and the stamp that it must show.

local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('HGET', KEYS[1], 'r') ~= '-' then return {'FENCED', 'the bucket is not being restored'} end
local id, term = string.match(redis.call('HGET', KEYS[1], 'x') or '', '^(.-):(%d+):')
if id == ARGV[1] and tonumber(term) > tonumber(ARGV[2]) then return {'FENCED', 'another one leads'} end
local stamp = ARGV[1] .. ':' .. ARGV[2] .. ':' .. now
redis.call('HSET', KEYS[1], 'x', stamp)
return {'OK', stamp}
