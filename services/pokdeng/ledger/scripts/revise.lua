-- Reverse bets of one bucket and settle them anew: read all, decide and check all, then write all.
-- KEYS: meta, accounts, one hash a round. Records and accounts are those of apply.lua.
-- ARGV[1]: msgpack of heads; account names; how many bets of each round; their ids; and, flat, of each bet: its account
--   by place, what the revision before returned, what this one returns, its number.
-- Answers as apply.lua: an account after both movements; that in between follows from it.

local ACCEPTED, REFUSED, WITHDRAWN, SETTLED, REVISED = 1, 2, 3, 4, 5
local HEAD_SIZE, END, END_SIZE, REVISED_END, REVISED_END_SIZE = 28, '<i7I3', 10, '<i7I3i7', 17
local LARGEST_REVISION = 16777215
local MOVED_NOW, MOVED_BEFORE = '\150\165moved\195\192', '\150\165moved\194\192'

local call, spack, sunpack = redis.call, struct.pack, struct.unpack
local byte, sub = string.byte, string.sub
local p = cmsgpack.unpack(ARGV[1])
local heads, names, counts, ids, ops = p[1], p[2], p[3], p[4], p[5]
local stored, answer = guard(heads)
if answer then return answer end

local function digits(number) return string.format('%.17g', number) end
local function corrupt(what) return {'CORRUPT', what} end
local function is_amount(number) return number >= 0 and number <= LARGEST and number % 1 == 0 end

local rows = call('HMGET', KEYS[2], unpack(names))
local available, held, sequence, currency = {}, {}, {}, {}
for i = 1, #names do
  if not rows[i] then return corrupt('account ' .. names[i] .. ': missing, yet it has a settled bet') end
  if #rows[i] ~= 27 then return corrupt('account ' .. names[i] .. ': ' .. #rows[i] .. ' bytes instead of 27') end
  local a, h, s, c = sunpack('<i8i8i8c3', rows[i])
  if h < 0 or h > LARGEST or a < -LARGEST or a + h > LARGEST or s < 1 or s > LARGEST then
    return corrupt('account ' .. names[i] .. ': available ' .. digits(a) .. ', held ' .. digits(h)
      .. ', sequence ' .. digits(s))
  end
  available[i], held[i], sequence[i], currency[i] = a, h, s, c
end

local function said(a, h, s)
  if a >= 0 and a + h + s <= 4294967295 then
    return spack('>I5I5I5', a + 884763262976, h + 884763262976, s + 884763262976)
  end
  return spack('>Bi8Bi8Bi8', 211, a, 211, h, 211, s)
end

-- One bet: its new record (nil: it has this revision already) and the answer; or nil and why it cannot be.
local function revise(row, at)
  local account, reversed, returned, revision = ops[at], ops[at + 1], ops[at + 2], ops[at + 3]
  if not is_amount(reversed) then return nil, nil, 'reverses ' .. digits(reversed) end
  if not is_amount(returned) then return nil, nil, 'returns ' .. digits(returned) end
  if not (revision >= 2 and revision <= LARGEST_REVISION and revision % 1 == 0) then
    return nil, nil, 'is settled anew in revision ' .. digits(revision)
  end
  if not row then return nil, nil, 'is missing' end
  if #row < HEAD_SIZE then return nil, nil, 'has an unreadable record' end
  local kind, _, name_size, first_size = byte(row, 1, 4)
  local takes, first_end = sunpack('<i7', row, 22), HEAD_SIZE + name_size + first_size
  local end_size = kind == REVISED and REVISED_END_SIZE or END_SIZE
  local rest = #row - first_end - end_size
  if takes < 0 or takes > LARGEST or first_size == 0 or kind < ACCEPTED or kind > REVISED
    or kind >= SETTLED and rest ~= 15 and rest ~= 27 then
    return nil, nil, 'has an unreadable record'
  end
  if kind < SETTLED then return nil, nil, 'is not settled' end
  if sub(row, HEAD_SIZE + 1, HEAD_SIZE + name_size) ~= names[account] then return nil, nil, 'is of another account' end
  local gave, last, before = sunpack(kind == REVISED and REVISED_END or END, row, first_end + 1)
  if last == revision then
    if kind ~= REVISED or gave ~= returned or before ~= reversed then
      return nil, nil, 'has returned ' .. digits(gave) .. ' in revision ' .. digits(revision)
        .. ', now it is to return ' .. digits(returned) .. ' instead of ' .. digits(reversed)
    end
    return nil, sub(row, first_end + end_size + 1)
  end
  if last ~= revision - 1 or gave ~= reversed then
    return nil, nil, 'has returned ' .. digits(gave) .. ' in revision ' .. digits(last) .. ', not '
      .. digits(reversed) .. ' in revision ' .. digits(revision - 1)
  end
  local a, h, s = available[account] - reversed, held[account] + takes, sequence[account] + 2
  local a_after, h_after = a + returned, h - takes -- summed apart: what passes 2^53 on the way would be rounded
  if a < -LARGEST or h > LARGEST or a + h > LARGEST or a_after + h_after > LARGEST or s > LARGEST then
    return nil, nil, 'of ' .. names[account] .. ': the account has ' .. digits(available[account]) .. ', less '
      .. digits(reversed) .. ' and with ' .. digits(returned) .. ' it passes 2^53 - 1'
  end
  a, h = a_after, h_after
  available[account], held[account], sequence[account], rows[account] = a, h, s, true
  local after = said(a, h, s)
  return '\005' .. sub(row, 2, first_end) .. spack(REVISED_END, returned, revision, reversed) .. after, after
end

local out, n, made, at = {}, 0, {}, 0
for r = 1, #counts do
  local got = call('HMGET', KEYS[2 + r], unpack(ids, at + 1, at + counts[r]))
  for k = 1, counts[r] do
    local row, after, why = revise(got[k], 4 * (at + k) - 3)
    if why then return corrupt('bet ' .. ids[at + k] .. ' ' .. why) end
    made[at + k] = row or false
    out[n + 1], out[n + 2], n = row and MOVED_NOW or MOVED_BEFORE, after, n + 2
  end
  at = at + counts[r]
end

-- All is decided; from here on nothing is asked, only written. rows[k] is true where account k moved.
local args, count = {}, 0
for k = 1, #names do
  if rows[k] == true then
    args[count + 1] = names[k]
    args[count + 2] = spack('<i8i8i8c3', available[k], held[k], sequence[k], currency[k])
    count = count + 2
  end
end
if count > 0 then write('HSET', KEYS[2], unpack(args, 1, count)) end
at = 0
for r = 1, #counts do
  count = 0
  for k = at + 1, at + counts[r] do
    if made[k] then args[count + 1], args[count + 2], count = ids[k], made[k], count + 2 end
  end
  if count > 0 then write('HSET', KEYS[2 + r], unpack(args, 1, count)) end
  at = at + counts[r]
end
count = 0
for k = 1, #heads, 4 do
  local counted = heads[k + 2] + 1
  if tonumber(stored[3 + (k - 1) / 4 * 3]) < counted then
    args[count + 1], args[count + 2], count = 'c:' .. heads[k], string.format('%.0f', counted), count + 2
  end
end
if count > 0 then call('HSET', KEYS[1], unpack(args, 1, count)) end
written()
return {'OK', string.char(220, (#ids - #ids % 256) / 256, #ids % 256), table.concat(out, '', 1, n)}
