-- Operations of one bucket: read all, decide and check all, then write all.
-- KEYS: meta, accounts, one hash a round, one key a transfer.
-- ARGV[1]: msgpack of heads; account names; how many bets of each round; their ids; their slots; the operations, flat;
--   time to live of a transfer in ms. An operation names its account and transfer by their places, its bet by a slot.
--
-- An account is <i8 available, held, sequence and three letters of currency. A bet record is, little-endian:
--   1 state; 1 bet; 1 size of the account's name; 1 size of the first answer; 7 offset; 7 stake; 3 currency; 7 taken;
--   the account's name; the first answer; and once it has ended: 7 returned or the offset of the cancel; 3 revision;
--   the answer to what ended it. One that was settled anew (revise.lua) has 7 more before that answer: what was reversed.
-- Answers are kept as they are said, in msgpack: available, held, sequence after the movement, or the reason.

local ACCEPTED, REFUSED, WITHDRAWN, SETTLED, REVISED = 1, 2, 3, 4, 5
local HEAD, HEAD_SIZE, END, END_SIZE = '<I3i7i7c3i7', 28, '<i7I3', 10
local LARGEST_REVISION = 16777215

-- The beginnings of answers, in msgpack: status, is_fresh, reason.
local MOVED_NOW, MOVED_BEFORE = '\150\165moved\195\192', '\150\165moved\194\192'
local REFUSED_NOW, REFUSED_BEFORE = '\147\167refused\195', '\147\167refused\194'
local DUPLICATE, CONFLICT = '\146\169duplicate\194', '\146\168conflict\194'
local ABSENT, FORGOTTEN = '\146\166absent\194', '\146\169forgotten\194'

local call, spack, sunpack, mpack = redis.call, struct.pack, struct.unpack, cmsgpack.pack
local byte, sub = string.byte, string.sub
local p = cmsgpack.unpack(ARGV[1])
local heads, names, counts, ids, slots, ops, transfer_ttl = p[1], p[2], p[3], p[4], p[5], p[6], p[7]
local stored, answer = guard(heads)
if answer then return answer end

local function corrupt(what) return {'CORRUPT', what} end
local function digits(number) return string.format('%.17g', number) end

local rows = #names > 0 and call('HMGET', KEYS[2], unpack(names)) or {}
local available, held, sequence, currency = {}, {}, {}, {}
for i = 1, #names do
  local row = rows[i]
  if row then
    if #row ~= 27 then return corrupt('account ' .. names[i] .. ': ' .. #row .. ' bytes instead of 27') end
    local a, h, s, c = sunpack('<i8i8i8c3', row)
    if h < 0 or h > LARGEST or a < -LARGEST or a + h > LARGEST or s < 1 or s > LARGEST then
      return corrupt('account ' .. names[i] .. ': available ' .. digits(a) .. ', held ' .. digits(h)
        .. ', sequence ' .. digits(s))
    end
    available[i], held[i], sequence[i], currency[i] = a, h, s, c
  else
    available[i] = false
  end
end

-- By slot: state (false: no such bet; a text: as it is stored, not yet read), whose, taken, the answers; where in ops a bet
-- begins or ends, if in this call; its record, if it is from before. Made in full size, since it is filled in any order.
local state = {unpack(slots)}
local at = 0
for r = 1, #counts do
  local got = call('HMGET', KEYS[2 + r], unpack(ids, at + 1, at + counts[r]))
  for k = 1, counts[r] do state[slots[at + k]] = got[k] end
  at = at + counts[r]
end
local record, owner, taken, first, second, born, ended = {}, {}, {}, {}, {}, {}, {}

local first_transfer = 3 + #counts
local transfers = #KEYS >= first_transfer and call('MGET', unpack(KEYS, first_transfer)) or {}
local changed_transfers, highest = {}, {}
for i = 1, #heads, 4 do highest[heads[i]] = tonumber(stored[4 + (i - 1) / 4 * 3] or -1) end

local function unreadable(slot)
  for k = 1, #slots do
    if slots[k] == slot then return corrupt('bet ' .. ids[k] .. ': unreadable record') end
  end
end

-- Read a stored record into its slot; false where it is not what it must be.
local function read(slot)
  local row = state[slot]
  if #row < HEAD_SIZE then return false end
  local kind, _, name_size, first_size = byte(row, 1, 4)
  local takes, first_end = sunpack('<i7', row, 22), HEAD_SIZE + name_size + first_size
  local rest = #row - first_end
  if takes < 0 or takes > LARGEST or first_size == 0
    or not (kind >= ACCEPTED and kind <= REFUSED and rest == 0
      or kind >= WITHDRAWN and kind <= SETTLED and (rest == END_SIZE + 15 or rest == END_SIZE + 27)
      or kind == REVISED and (rest == END_SIZE + 22 or rest == END_SIZE + 34)) then
    return false
  end
  state[slot], taken[slot], owner[slot] = kind, takes, sub(row, HEAD_SIZE + 1, HEAD_SIZE + name_size)
  record[slot] = row
  return true
end

-- The answers that a bet got: to what began it, to what ended it.
local function answers(slot)
  if first[slot] then return first[slot], second[slot] end
  local row = record[slot]
  local _, _, name_size, first_size = byte(row, 1, 4)
  local begin = HEAD_SIZE + name_size
  return sub(row, begin + 1, begin + first_size), second[slot] or sub(row, begin + first_size + END_SIZE + 1)
end

-- What began a bet: offset, bet, stake, currency.
local function beginning(slot)
  local b = born[slot]
  if b then return ops[b + 1], ops[b + 3], ops[b + 4], ops[b + 5] end
  local code, offset, stake, money = sunpack(HEAD, record[slot], 2)
  return offset, code % 256, stake, money
end

-- What ended a bet: returned and revision, or the offset of the cancel.
local function ending(slot)
  local e = ended[slot]
  if not e then
    local _, _, name_size, first_size = byte(record[slot], 1, 4)
    return sunpack(END, record[slot], HEAD_SIZE + name_size + first_size + 1)
  end
  if state[slot] == SETTLED then return ops[e + 2], ops[e + 3] end
  return ops[e + 1], 0
end

-- An account after a movement, as answers say it: five bytes a number, the first being msgpack's mark; nine where needed.
local function said(a, h, s)
  if a >= 0 and a + h + s <= 4294967295 then
    return spack('>I5I5I5', a + 884763262976, h + 884763262976, s + 884763262976)
  end
  return spack('>Bi8Bi8Bi8', 211, a, 211, h, 211, s)
end

-- Answers grow as pieces: most have two.
local out, n, i, last, operations = {}, 0, 1, #ops, 0
while i <= last do
  local kind = ops[i]
  operations = operations + 1
  if kind <= 2 then
    -- 1 hold, 2 refuse: offset, account, bet, stake, currency, taken or reason, slot
    local account, slot, more = ops[i + 2], ops[i + 7], ops[i + 6]
    local is = state[slot]
    if is then
      if type(is) == 'string' and not read(slot) then return unreadable(slot) end
      local offset, code, stake, money = beginning(slot)
      if offset == ops[i + 1] then
        out[n + 1] = state[slot] == REFUSED and REFUSED_BEFORE or MOVED_BEFORE
        out[n + 2] = answers(slot)
        n = n + 2
      else
        local is_same = owner[slot] == names[account] and code == ops[i + 3] and stake == ops[i + 4]
          and money == ops[i + 5]
        n = n + 1
        out[n] = is_same and DUPLICATE or CONFLICT
      end
    else
      local reason
      if kind == 2 then
        reason = more
      else
        if not (more >= 0 and more <= LARGEST and more % 1 == 0) then return corrupt('a bet takes ' .. digits(more)) end
        local a = available[account]
        if a and currency[account] ~= ops[i + 5] then
          reason = 'currency_mismatch'
        elseif not a or a < more then
          reason = 'insufficient_funds'
        else
          local h, s = held[account] + more, sequence[account] + 1
          a = a - more
          available[account], held[account], sequence[account], rows[account] = a, h, s, true
          local after = said(a, h, s)
          state[slot], owner[slot], taken[slot], first[slot], born[slot] = ACCEPTED, names[account], more, after, i
          out[n + 1] = MOVED_NOW
          out[n + 2] = after
        end
      end
      if reason then
        reason = mpack(reason)
        state[slot], owner[slot], taken[slot], first[slot], born[slot] = REFUSED, names[account], 0, reason, i
        out[n + 1] = REFUSED_NOW
        out[n + 2] = reason
      end
      n = n + 2
    end
    i = i + 8
  elseif kind <= 4 then
    -- 3 withdraw: offset of the cancel, account, slot; 4 settle: account, returned, revision, slot
    local account, slot, returned, size
    if kind == 4 then
      account, returned, slot, size = ops[i + 1], ops[i + 2], ops[i + 4], 5
      local revision = ops[i + 3]
      if not (returned >= 0 and returned <= LARGEST and returned % 1 == 0) then
        return corrupt('a bet returns ' .. digits(returned))
      end
      if not (revision >= 1 and revision <= LARGEST_REVISION and revision % 1 == 0) then
        return corrupt('a bet is settled in revision ' .. digits(revision))
      end
    else
      account, slot, size = ops[i + 2], ops[i + 3], 4
    end
    if type(state[slot]) == 'string' and not read(slot) then return unreadable(slot) end
    local is = owner[slot] == names[account] and state[slot]
    if is == ACCEPTED then
      local takes = taken[slot]
      local a, h, s = available[account], held[account], sequence[account]
      if not a or h < takes then
        return corrupt('account ' .. names[account] .. ': holds ' .. digits(h or 0) .. ', less than the '
          .. digits(takes) .. ' that a bet has taken')
      end
      a, h, s = a + (returned or takes), h - takes, s + 1
      if a + h > LARGEST then
        return corrupt('account ' .. names[account] .. ': ' .. digits(available[account]) .. ' and '
          .. digits(returned or takes) .. ' pass 2^53 - 1')
      end
      available[account], held[account], sequence[account], rows[account] = a, h, s, true
      local after = said(a, h, s)
      state[slot], second[slot], ended[slot] = kind == 4 and SETTLED or WITHDRAWN, after, i
      out[n + 1] = MOVED_NOW
      out[n + 2] = after
      n = n + 2
    else
      local more, revision
      if is == SETTLED or is == WITHDRAWN then more, revision = ending(slot) end
      local is_same = false
      if kind == 4 and is == REVISED then
        return corrupt('a bet of ' .. names[account] .. ' is to be settled in revision ' .. digits(ops[i + 3])
          .. ', it was settled anew since')
      end
      if kind == 4 and is == SETTLED and revision == ops[i + 3] then
        if more ~= returned then
          return corrupt('a bet of ' .. names[account] .. ': revision ' .. digits(revision) .. ' returned '
            .. digits(more) .. ', now it is to return ' .. digits(returned))
        end
        is_same = true
      elseif kind == 3 and is == WITHDRAWN then
        is_same = more == ops[i + 1]
      end
      if is_same then
        out[n + 1] = MOVED_BEFORE
        local _, answer_to_end = answers(slot)
        out[n + 2] = answer_to_end
        n = n + 2
      else
        n = n + 1
        out[n] = kind == 3 and is == WITHDRAWN and DUPLICATE or ABSENT
      end
    end
    i = i + size
  else
    -- 5 transfer: source, offset, account, place, amount, currency, is it a deposit, reason or ''
    local source, offset, account, place = ops[i + 1], ops[i + 2], ops[i + 3], ops[i + 4]
    local amount, money, is_deposit, reason = ops[i + 5], ops[i + 6], ops[i + 7], ops[i + 8]
    i = i + 9
    n = n + 1
    if not (amount >= 0 and amount <= LARGEST and amount % 1 == 0) then
      return corrupt('a transfer of ' .. names[account] .. ' is about ' .. digits(amount))
    end
    local known = transfers[place]
    if type(known) == 'string' then
      local whole, f = pcall(cmsgpack.unpack, known)
      if not whole or type(f) ~= 'table' or (#f ~= 6 and #f ~= 4) then
        return corrupt('transfer ' .. KEYS[first_transfer + place - 1] .. ': unreadable record')
      end
      known = f
      transfers[place] = f
    end
    if known then
      if known[1] ~= offset then
        out[n] = (known[2] == amount and known[3] == money) and DUPLICATE or CONFLICT
      elseif #known == 4 then
        out[n] = REFUSED_BEFORE .. mpack(known[4])
      else
        out[n] = MOVED_BEFORE .. said(known[4], known[5], known[6])
      end
    elseif offset <= highest[source] then
      out[n] = FORGOTTEN
    else
      local a, h, s = available[account] or 0, held[account] or 0, sequence[account] or 0
      if reason == '' then
        if s > 0 and currency[account] ~= money then
          reason = 'currency_mismatch'
        elseif not is_deposit and (s == 0 or a < amount) then
          reason = 'insufficient_funds'
        elseif is_deposit and a + h + amount > 1e15 then
          reason = 'amount_out_of_range'
        end
      end
      if reason ~= '' then
        transfers[place] = {offset, amount, money, reason}
        out[n] = REFUSED_NOW .. mpack(reason)
      else
        a, s = a + (is_deposit and amount or -amount), s + 1
        available[account], held[account], sequence[account], currency[account], rows[account] = a, h, s, money, true
        transfers[place] = {offset, amount, money, a, h, s}
        out[n] = MOVED_NOW .. said(a, h, s)
      end
      changed_transfers[#changed_transfers + 1] = place
    end
    if offset > highest[source] then highest[source] = offset end
  end
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
    local slot = slots[k]
    local b, e = born[slot], ended[slot]
    if b or e then
      local row = record[slot]
      if b then
        local name, begin = owner[slot], first[slot]
        row = spack(HEAD, ops[b + 3] + 256 * (#name + 256 * #begin), ops[b + 1], ops[b + 4], ops[b + 5], taken[slot])
        if not e then
          row = (state[slot] == REFUSED and '\002' or '\001') .. row .. name .. begin
        elseif state[slot] == SETTLED then
          row = '\004' .. row .. name .. begin .. spack(END, ops[e + 2], ops[e + 3]) .. second[slot]
        else
          row = '\003' .. row .. name .. begin .. spack(END, ops[e + 1], 0) .. second[slot]
        end
      elseif state[slot] == SETTLED then
        row = '\004' .. sub(row, 2) .. spack(END, ops[e + 2], ops[e + 3]) .. second[slot]
      else
        row = '\003' .. sub(row, 2) .. spack(END, ops[e + 1], 0) .. second[slot]
      end
      args[count + 1], args[count + 2] = ids[k], row
      count = count + 2
    end
  end
  if count > 0 then write('HSET', KEYS[2 + r], unpack(args, 1, count)) end
  at = at + counts[r]
end
for k = 1, #changed_transfers do
  local place = changed_transfers[k]
  write('SET', KEYS[first_transfer + place - 1], mpack(transfers[place]), 'PX', string.format('%.0f', transfer_ttl))
end
count = 0
for k = 1, #heads, 4 do
  local source, column = heads[k], 3 + (k - 1) / 4 * 3
  local counted = heads[k + 2] + 1
  if tonumber(stored[column]) < counted then
    args[count + 1], args[count + 2] = 'c:' .. source, string.format('%.0f', counted)
    count = count + 2
  end
  if highest[source] > tonumber(stored[column + 1] or -1) then
    args[count + 1], args[count + 2] = 'f:' .. source, string.format('%.0f', highest[source])
    count = count + 2
  end
end
if count > 0 then call('HSET', KEYS[1], unpack(args, 1, count)) end
written()
return {'OK', string.char(220, (operations - operations % 256) / 256, operations % 256), table.concat(out, '', 1, n)}
