-- Operations of one bucket: read all, decide and check all, then write all.
-- KEYS: meta, accounts, one hash a round, one key a transfer.
-- ARGV[1]: msgpack of heads, account names, bet ids of each round, operations (flat), time to live of a transfer.
-- An operation names its account, round, bet and transfer by their places in these lists.
-- A bet record is a msgpack list: state, offset, account, bet, stake, currency, then
--   accepted (1): taken, available, held, sequence after the hold
--   refused (2): reason
--   withdrawn (3): as accepted, offset of the cancel, available, held, sequence after it
--   settled (4): as accepted, returned, revision, available, held, sequence after it
-- A transfer is one of offset, amount, currency and either available, held, sequence after it or the reason.

local ACCEPTED, REFUSED, WITHDRAWN, SETTLED = 1, 2, 3, 4
local FIELDS = {10, 7, 14, 15}

-- The beginnings of answers, in msgpack: status, is_fresh, reason, available, held, sequence.
local MOVED_NOW, MOVED_BEFORE = '\150\165moved\195\192', '\150\165moved\194\192'
local REFUSED_NOW, REFUSED_BEFORE = '\147\167refused\195', '\147\167refused\194'
local DUPLICATE, CONFLICT = '\146\169duplicate\194', '\146\168conflict\194'
local ABSENT, FORGOTTEN = '\146\166absent\194', '\146\169forgotten\194'

local pack = cmsgpack.pack
local p = cmsgpack.unpack(ARGV[1])
local heads, names, ids, ops, transfer_ttl = p[1], p[2], p[3], p[4], p[5]
local stored, answer = guard(heads)
if answer then return answer end

local function corrupt(what) return {'CORRUPT', what} end
local function digits(number)
  return type(number) == 'number' and string.format('%.17g', number) or tostring(number)
end

local available, held, sequence, currency, touched = {}, {}, {}, {}, {}
local rows = #names > 0 and redis.call('HMGET', KEYS[2], unpack(names)) or {}
for i = 1, #names do
  local row = rows[i]
  if row then
    if #row ~= 27 then return corrupt('account ' .. names[i] .. ': ' .. #row .. ' bytes instead of 27') end
    local a, h, s, c = struct.unpack('<i8i8i8c3', row)
    if h < 0 or a > LARGEST or a < -LARGEST or a + h > LARGEST or s < 1 or s > LARGEST then
      return corrupt('account ' .. names[i] .. ': available ' .. digits(a) .. ', held ' .. digits(h)
        .. ', sequence ' .. digits(s))
    end
    available[i], held[i], sequence[i], currency[i] = a, h, s, c
  end
end

local bets, changed = {}, {}
for r = 1, #ids do
  bets[r] = redis.call('HMGET', KEYS[2 + r], unpack(ids[r]))
  changed[r] = {}
end
local first_transfer = 3 + #ids
local transfers = #KEYS >= first_transfer and redis.call('MGET', unpack(KEYS, first_transfer)) or {}
local changed_transfers = {}
local highest = {}
for i = 1, #heads, 4 do
  highest[heads[i]] = tonumber(stored[4 + (i - 1) / 4 * 3] or -1)
end

-- A bet as a list: 1 state, 2 offset, 3 account, 4 bet, 5 stake, 6 currency, 7 taken or reason, 8 the account after the
-- hold (msgpack), 9 returned or offset of the cancel, 10 revision, 11 the account after that, 12 is it to be written
local function bet_at(round, place)
  local bet = bets[round][place]
  if type(bet) ~= 'string' then return bet end
  local whole, f = pcall(cmsgpack.unpack, bet)
  if not whole or type(f) ~= 'table' or #f ~= FIELDS[f[1]] then return nil end
  for i = 7, #f do
    if f[1] ~= REFUSED and (type(f[i]) ~= 'number' or f[i] > LARGEST or f[i] < -LARGEST) then return nil end
  end
  local state = f[1]
  if state ~= REFUSED then
    if f[7] < 0 then return nil end
    f[8] = pack(f[8], f[9], f[10])
    if state == WITHDRAWN then
      f[9], f[11] = f[11], pack(f[12], f[13], f[14])
    elseif state == SETTLED then
      f[9], f[10], f[11] = f[11], f[12], pack(f[13], f[14], f[15])
    end
  end
  f[12] = false
  bets[round][place] = f
  return f
end

local function change(round, place, bet)
  if not bet[12] then
    local list = changed[round]
    list[#list + 1] = place
    bet[12] = true
  end
end

local function bet_name(round, place) return 'bet ' .. KEYS[2 + round] .. ' ' .. ids[round][place] end

local function said_before(bet)
  if bet[1] == REFUSED then return REFUSED_BEFORE .. pack(bet[7]) end
  return MOVED_BEFORE .. bet[8]
end

local out, n, i, last = {}, 0, 1, #ops
while i <= last do
  local kind = ops[i]
  n = n + 1
  if kind == 1 or kind == 2 then -- hold, refuse: offset, account, round, place, bet, stake, currency, taken or reason
    local offset, account, round, place = ops[i + 1], ops[i + 2], ops[i + 3], ops[i + 4]
    local code, stake, money, more = ops[i + 5], ops[i + 6], ops[i + 7], ops[i + 8]
    i = i + 9
    local bet = bet_at(round, place)
    if bet == nil then return corrupt(bet_name(round, place) .. ': unreadable record') end
    if bet then
      if bet[2] == offset then
        out[n] = said_before(bet)
      elseif bet[3] == names[account] and bet[4] == code and bet[5] == stake and bet[6] == money then
        out[n] = DUPLICATE
      else
        out[n] = CONFLICT
      end
    else
      local reason
      if kind == 2 then
        reason = more
      else
        if not (more >= 0 and more <= LARGEST and more % 1 == 0) then
          return corrupt(bet_name(round, place) .. ': takes ' .. digits(more))
        end
        local a = available[account]
        if a and currency[account] ~= money then
          reason = 'currency_mismatch'
        elseif not a or a < more then
          reason = 'insufficient_funds'
        else
          local h, s = held[account] + more, sequence[account] + 1
          a = a - more
          available[account], held[account], sequence[account], touched[account] = a, h, s, true
          local after = pack(a, h, s)
          bets[round][place] = {ACCEPTED, offset, names[account], code, stake, money, more, after,
            false, false, false, true}
          out[n] = MOVED_NOW .. after
        end
      end
      if reason then
        bets[round][place] = {REFUSED, offset, names[account], code, stake, money, reason,
          false, false, false, false, true}
        out[n] = REFUSED_NOW .. pack(reason)
      end
      local list = changed[round]
      list[#list + 1] = place
    end
  elseif kind == 4 then -- settle: account, round, place, returned, revision
    local account, round, place, returned, revision = ops[i + 1], ops[i + 2], ops[i + 3], ops[i + 4], ops[i + 5]
    i = i + 6
    if not (returned >= 0 and returned <= LARGEST and returned % 1 == 0) then
      return corrupt(bet_name(round, place) .. ': returns ' .. digits(returned))
    end
    local bet = bet_at(round, place)
    if bet == nil then return corrupt(bet_name(round, place) .. ': unreadable record') end
    if not bet or bet[3] ~= names[account] then
      out[n] = ABSENT
    elseif bet[1] == ACCEPTED then
      local taken = bet[7]
      if not available[account] then
        return corrupt('account ' .. names[account] .. ': missing, yet it holds ' .. bet_name(round, place))
      end
      local a, h, s = available[account] + returned, held[account] - taken, sequence[account] + 1
      if h < 0 then
        return corrupt('account ' .. names[account] .. ': held ' .. digits(held[account]) .. ' is less than '
          .. digits(taken) .. ' taken by ' .. bet_name(round, place))
      end
      if a + h > LARGEST then
        return corrupt('account ' .. names[account] .. ': available ' .. digits(available[account]) .. ' and '
          .. digits(returned) .. ' pass 2^53 - 1')
      end
      available[account], held[account], sequence[account], touched[account] = a, h, s, true
      local after = pack(a, h, s)
      bet[1], bet[9], bet[10], bet[11] = SETTLED, returned, revision, after
      change(round, place, bet)
      out[n] = MOVED_NOW .. after
    elseif bet[1] == SETTLED and bet[10] == revision then
      if bet[9] ~= returned then
        return corrupt(bet_name(round, place) .. ': revision ' .. digits(revision) .. ' returned '
          .. digits(bet[9]) .. ', now it is to return ' .. digits(returned))
      end
      out[n] = MOVED_BEFORE .. bet[11]
    else
      out[n] = ABSENT
    end
  elseif kind == 3 then -- withdraw: offset of the cancel, account, round, place
    local offset, account, round, place = ops[i + 1], ops[i + 2], ops[i + 3], ops[i + 4]
    i = i + 5
    local bet = bet_at(round, place)
    if bet == nil then return corrupt(bet_name(round, place) .. ': unreadable record') end
    if not bet or bet[3] ~= names[account] then
      out[n] = ABSENT
    elseif bet[1] == ACCEPTED then
      local taken = bet[7]
      if not available[account] then
        return corrupt('account ' .. names[account] .. ': missing, yet it holds ' .. bet_name(round, place))
      end
      local a, h, s = available[account] + taken, held[account] - taken, sequence[account] + 1
      if h < 0 then
        return corrupt('account ' .. names[account] .. ': held ' .. digits(held[account]) .. ' is less than '
          .. digits(taken) .. ' taken by ' .. bet_name(round, place))
      end
      available[account], held[account], sequence[account], touched[account] = a, h, s, true
      local after = pack(a, h, s)
      bet[1], bet[9], bet[11] = WITHDRAWN, offset, after
      change(round, place, bet)
      out[n] = MOVED_NOW .. after
    elseif bet[1] == WITHDRAWN then
      out[n] = bet[9] == offset and MOVED_BEFORE .. bet[11] or DUPLICATE
    else
      out[n] = ABSENT
    end
  elseif kind == 5 then -- transfer: source, offset, account, place, amount, currency, is it a deposit, reason or ''
    local source, offset, account, place = ops[i + 1], ops[i + 2], ops[i + 3], ops[i + 4]
    local amount, money, is_deposit, reason = ops[i + 5], ops[i + 6], ops[i + 7], ops[i + 8]
    i = i + 9
    if not (amount >= 0 and amount <= LARGEST and amount % 1 == 0) then
      return corrupt('transfer ' .. KEYS[first_transfer + place - 1] .. ' of ' .. digits(amount))
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
        out[n] = REFUSED_BEFORE .. pack(known[4])
      else
        out[n] = MOVED_BEFORE .. pack(known[4], known[5], known[6])
      end
    elseif offset <= highest[source] then
      out[n] = FORGOTTEN
    else
      local a, h, s = available[account], held[account], sequence[account]
      if reason == '' then
        if a and currency[account] ~= money then
          reason = 'currency_mismatch'
        elseif not is_deposit and (not a or a < amount) then
          reason = 'insufficient_funds'
        elseif is_deposit and (a or 0) + (h or 0) + amount > 1e15 then
          reason = 'amount_out_of_range'
        end
      end
      if reason ~= '' then
        known = {offset, amount, money, reason}
        out[n] = REFUSED_NOW .. pack(reason)
      else
        a, h, s = (a or 0) + (is_deposit and amount or -amount), h or 0, (s or 0) + 1
        available[account], held[account], sequence[account], touched[account] = a, h, s, true
        currency[account] = money
        known = {offset, amount, money, a, h, s}
        out[n] = MOVED_NOW .. pack(a, h, s)
      end
      transfers[place] = known
      changed_transfers[#changed_transfers + 1] = place
    end
    if offset > highest[source] then highest[source] = offset end
  else
    return redis.error_reply('ERR operation ' .. tostring(kind) .. ' is unknown')
  end
end

-- All is decided; from here on nothing is asked, only written.
local args, count = {}, 0
for k in pairs(touched) do
  args[count + 1] = names[k]
  args[count + 2] = struct.pack('<i8i8i8c3', available[k], held[k], sequence[k], currency[k])
  count = count + 2
end
if count > 0 then redis.call('HSET', KEYS[2], unpack(args, 1, count)) end
for r = 1, #ids do
  local list = changed[r]
  if #list > 0 then
    args, count = {}, 0
    for k = 1, #list do
      local b = bets[r][list[k]]
      local state = b[1]
      args[count + 1] = ids[r][list[k]]
      if state == ACCEPTED then
        args[count + 2] = '\154\001' .. pack(b[2], b[3], b[4], b[5], b[6], b[7]) .. b[8]
      elseif state == SETTLED then
        args[count + 2] = '\159\004' .. pack(b[2], b[3], b[4], b[5], b[6], b[7]) .. b[8] .. pack(b[9], b[10]) .. b[11]
      elseif state == WITHDRAWN then
        args[count + 2] = '\158\003' .. pack(b[2], b[3], b[4], b[5], b[6], b[7]) .. b[8] .. pack(b[9]) .. b[11]
      else
        args[count + 2] = '\151\002' .. pack(b[2], b[3], b[4], b[5], b[6], b[7])
      end
      count = count + 2
    end
    redis.call('HSET', KEYS[2 + r], unpack(args, 1, count))
  end
end
for k = 1, #changed_transfers do
  local place = changed_transfers[k]
  redis.call('SET', KEYS[first_transfer + place - 1], pack(transfers[place]), 'PX', string.format('%.0f', transfer_ttl))
end
args, count = {}, 0
for k = 1, #heads, 4 do
  local source, at = heads[k], 3 + (k - 1) / 4 * 3
  local counted = heads[k + 2] + 1
  if tonumber(stored[at]) < counted then
    args[count + 1], args[count + 2] = 'c:' .. source, string.format('%.0f', counted)
    count = count + 2
  end
  if highest[source] > tonumber(stored[at + 1] or -1) then
    args[count + 1], args[count + 2] = 'f:' .. source, string.format('%.0f', highest[source])
    count = count + 2
  end
end
if count > 0 then redis.call('HSET', KEYS[1], unpack(args, 1, count)) end
return {'OK', string.char(220, (n - n % 256) / 256, n % 256) .. table.concat(out)}
