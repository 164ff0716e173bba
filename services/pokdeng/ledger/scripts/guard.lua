#!lua
-- Put before every other script: who may call, and is this still the store that was verified?
-- KEYS[1] is the bucket's meta hash: r the run id it was verified under, n the number of buckets, v the format, since a
-- restore b above which epochs begin and o its id, while one goes on x the stamp of its leader, w where what was there
-- is forgotten already, or a call was done by halves (`write`),
-- and per source e: epoch, c: calls of its owner, g: group and generation, f: highest offset of a transfer.
-- Every answer is a list: first OK, or why nothing was done.

local LARGEST = 9007199254740991 -- 2^53 - 1: beyond it a Lua number is no longer exact

local function lost(run_id)
  if not run_id then return {'COLD', 'the bucket is empty'} end
  local now = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  if run_id ~= now then return {'CHECK', 'verified as ' .. run_id .. ', is ' .. tostring(now)} end
  return nil
end

-- heads: four values a source: name, epoch, calls that must have been counted, calls that were acknowledged.
-- Gives what is stored (r, then e, c, f per source) and, where the call may not go on, the answer that says why.
local function guard(heads)
  local fields = {'r'}
  for i = 1, #heads, 4 do
    local n, source = #fields, heads[i]
    fields[n + 1] = 'e:' .. source
    fields[n + 2] = 'c:' .. source
    fields[n + 3] = 'f:' .. source
  end
  local stored = redis.call('HMGET', KEYS[1], unpack(fields))
  local answer = lost(stored[1])
  if answer then return stored, answer end
  local at = 2
  for i = 1, #heads, 4 do
    local epoch = stored[at]
    if not epoch then return stored, {'COLD', 'the bucket does not know source ' .. heads[i]} end
    if tonumber(epoch) ~= heads[i + 1] then
      return stored, {'FENCED', heads[i] .. ' is at epoch ' .. epoch .. ', the caller at ' .. heads[i + 1]}
    end
    at = at + 3
  end
  at = 3
  for i = 1, #heads, 4 do
    local calls = tonumber(stored[at])
    if not calls or calls < heads[i + 3] then
      return stored, {'BEHIND', heads[i] .. ': ' .. heads[i + 3] .. ' calls were acknowledged, '
        .. tostring(stored[at]) .. ' are there'}
    end
    if calls < heads[i + 2] then return stored, {'GAP', heads[i]} end
    at = at + 3
  end
  return stored, nil
end

-- For what belongs together: from the first `write` to `written` the bucket is torn. A server that finds half of that at
-- the end of a cut file may do that half the next time it is started.
local torn = false

local function write(...)
  if not torn then redis.call('HSET', KEYS[1], 'w', '1') end
  torn = true
  redis.call(...)
end

local function written()
  if torn then redis.call('HDEL', KEYS[1], 'w') end
end
