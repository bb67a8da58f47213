-- Makes a room out of a log that has come from another store, with everything that belongs to it.
-- The entries keep their stamps and chains, so the room's clock must fit them: a service clock that
-- is ahead would take time from players, and no verifier would accept the record.
--
-- KEYS  coming, log, secret, ended, due, clock, lobby, chat, record, ends (all of one slot)
-- ARGV  room; channel of the lobby; commit id of fences; of the newest entry: id in the stream,
--       chain, wall ms, served ms; wall ms of the first entry; served ms of the other store when the
--       room was read; secret; deadline by that clock, or ''; summary; ttl in ms; '1' if the game is
--       over; '1' to write nothing; record, or ''; its ttl in ms; '1' if the end of the game is in no
--       journal yet; then of each line of chat: id, text
-- Returns {'OK'}, {'SAME'}, {'EXISTS'}, {'TORN'}, {'AHEAD', ms} or {'BEHIND', ms}

local MOST_DOUBT_MS = 5000
local MOST_LEAD_MS = 500
local FIRST_LINE = 19
local coming, log, secret, ended, due, clock, lobby, chat, record, ends = unpack(KEYS)
local room, lobby_channel, fence, top_id, chain, wall, served, first_wall, served_there, own_secret,
  deadline, summary, ttl, over, dry, own_record, record_ttl, is_end = unpack(ARGV, 1, FIRST_LINE - 1)
wall, served, served_there = tonumber(wall), tonumber(served), tonumber(served_there)

local function whole(number) return string.format('%.0f', number) end

local function newest_of(key)
  local found = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if not found then return nil end
  local fields = {}
  for i = 1, #found[2], 2 do fields[found[2][i]] = found[2][i + 1] end
  return found[1], fields
end

local here_id, here = newest_of(log)
if here_id and here.i ~= fence then
  return {here_id == top_id and here.c == chain and 'SAME' or 'EXISTS'}
end
local came_id, came = newest_of(coming)
if came_id ~= top_id or came.c ~= chain then return {'TORN'} end
if here_id then
  -- The room was moved away from here. It may come back if it is the same one.
  local seq = tonumber(string.match(here_id, '^(%d+)')) - 1
  local left = redis.call('XRANGE', log, seq .. '-0', seq .. '-0')[1]
  local back = redis.call('XRANGE', coming, seq .. '-0', seq .. '-0')[1]
  if not left or not back or left[2][4] ~= back[2][4] then return {'EXISTS'} end
end
local there = redis.call('GET', secret)
if there and there ~= own_secret then return {'EXISTS'} end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local beat = redis.call('HMGET', clock, 'served', 'last', 'born')
local base, since = tonumber(beat[1] or 0), math.max(now - tonumber(beat[2] or now), 0)
local served_now = base + math.min(since, MOST_DOUBT_MS)
if redis.call('ZCARD', due) == 0 then
  -- No other room's clock jumps.
  served_now = math.max(served_now, served_there)
else
  -- While no server beats here, the clock may follow that of the other store: the rooms that are
  -- here came from there. It never runs faster than time.
  served_now = math.max(served_now, math.min(served_there, base + since))
end
if over ~= '1' then
  local ahead = (served_now - served) - math.max(now - wall, 0)
  if ahead > MOST_LEAD_MS then return {'AHEAD', math.ceil(ahead)} end
  if served - served_now > MOST_LEAD_MS then
    return {'BEHIND', math.ceil(served - served_now)}
  end
end
if dry == '1' then return {'OK'} end

redis.call('HSET', clock, 'served', whole(served_now), 'last', whole(now),
  'born', whole(math.min(tonumber(beat[3] or now), tonumber(first_wall))))
redis.call('RENAME', coming, log)
redis.call('PEXPIRE', log, ttl)
redis.call('SET', secret, own_secret, 'PX', ttl)
redis.call('DEL', ended, chat)
if deadline ~= '' then
  redis.call('ZADD', due, whole(served_now + math.max(tonumber(deadline) - served_there, 0)), room)
end
if summary ~= '' then
  redis.call('HSET', lobby, room, summary)
  redis.call('PUBLISH', lobby_channel, room .. ' ' .. summary)
end
for i = FIRST_LINE, #ARGV, 2 do redis.call('XADD', chat, ARGV[i], 'b', ARGV[i + 1]) end
redis.call('PEXPIRE', chat, ttl)
if own_record ~= '' then redis.call('SET', record, own_record, 'PX', record_ttl) end
if is_end == '1' then redis.call('SADD', ends, room) end
return {'OK'}
