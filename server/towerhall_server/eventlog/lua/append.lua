-- Appends one commit to a room's log, or says why not. This script is the lock: an accepted commit
-- gets the next seq, and no other commit can have it. Nothing is written before the last check,
-- because an error inside a script does not undo earlier writes.
--
-- KEYS  log, secret, due, clock, lobby (all of one slot); with create: owed; at the end of a game: ends
-- ARGV  room; PUBLISH, SPUBLISH (on a cluster) or ''; channel; channel of the lobby; node; mode (create, append, heal); then of the entry
--       before: seq, chain; then of the new entry: wall ms and served ms as the node proposes them,
--       commit id, chain, blob; not before (served ms) or ''; deadline (served ms, or ''); summary
--       ('' for none, = for the one that is there); ttl in ms; with create: what the public log is
--       owed for the room, or '', and its secret, or '' to leave that as it is; at the end of a game:
--       room
--
-- No command is done twice: the node that decided it had read the log up to the entry before, and
-- the log still ends there.

local MOST_DOUBT_MS = 5000
-- Limits of proposed stamps ahead of the store's clocks, and behind them. A node's estimate is
-- close, but its request may have waited, and a retry carries the stamps of the first attempt.
local MOST_AHEAD_MS = 250
local MOST_BEHIND_MS = 5000
-- Limit of the difference between the errors of both stamps. Without it, a node without news for
-- seconds makes a log whose service clock runs faster than time, which no verifier accepts.
local MOST_APART_MS = 250
local UNCHANGED = '='
local RENEWED_BELOW = 0.75
local log, secret, due, clock, lobby, list = unpack(KEYS)
local room, publish, channel, lobby_channel, node, mode, expected, previous, wall, served, commit_id, chain, blob,
  not_before, deadline, summary, ttl, listed, own_secret = unpack(ARGV)
expected, wall, served = tonumber(expected), tonumber(wall), tonumber(served)

local function fields_of(entry)
  local found = {}
  for i = 1, #entry[2], 2 do found[entry[2][i]] = entry[2][i + 1] end
  return found
end

local function whole(number) return string.format('%.0f', number) end

local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
local top_seq, top = 0, nil
if newest then
  top_seq = tonumber(string.match(newest[1], '^(%d+)'))
  top = fields_of(newest)
end

if not top and mode ~= 'create' then return {'GONE'} end

local seq = expected + 1
if top_seq >= seq then
  local there = redis.call('XRANGE', log, seq .. '-0', seq .. '-0')[1]
  local found = there and fields_of(there)
  if found and found.i == commit_id then
    -- A write, although nothing changes: `WAIT` confirms at once to those who have only read.
    redis.call('PEXPIRE', log, ttl)
    return {'OK', seq}
  end
end
if mode == 'create' and top then return {'EXISTS'} end
local keeps_secret = mode == 'create' and own_secret ~= ''
if keeps_secret and (redis.call('GET', secret) or own_secret) ~= own_secret then
  -- Another room is about to begin under that code.
  return {'EXISTS'}
end

-- The seq alone does not fence a fork after a failover. The chain does: it covers every entry with
-- its stamps.
if top and (top_seq ~= expected or top.c ~= previous) then
  return {'CONFLICT', top_seq, top.c}
end

if mode ~= 'heal' then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local beat = redis.call('HMGET', clock, 'served', 'last')
  local since = math.max(now - tonumber(beat[2] or now), 0)
  local served_now = tonumber(beat[1] or 0) + math.min(since, MOST_DOUBT_MS)
  local floor_wall, floor_served = 0, 0
  if top then floor_wall, floor_served = tonumber(top.t), tonumber(top.u) end
  now, served_now = math.max(now, floor_wall), math.max(served_now, floor_served)
  if not_before ~= '' and tonumber(not_before) > served_now then
    return {'EARLY', tonumber(not_before) - served_now}
  end
  if wall < math.max(floor_wall, now - MOST_BEHIND_MS) or wall > now + MOST_AHEAD_MS
    or served < math.max(floor_served, served_now - MOST_BEHIND_MS) or served > served_now + MOST_AHEAD_MS
    or math.abs((served - wall) - (served_now - now)) > MOST_APART_MS then
    -- A full store refuses this without an effect: the node cannot append anyway.
    redis.call('HSET', clock, 'served', beat[1] or 0)
    return {'MISTIMED', now, served_now}
  end
end

redis.call('XADD', log, seq .. '-0', 'i', commit_id, 'c', chain, 'b', blob,
  't', whole(wall), 'u', whole(served))
-- Again: a failover may have lost the one that was kept, and nobody could read the log then.
if keeps_secret then redis.call('SET', secret, own_secret) end
if list and listed ~= '' then redis.call('SADD', list, listed) end
if deadline == '' then
  redis.call('ZREM', due, room)
else
  redis.call('ZADD', due, deadline, room)
end
-- The lobby's entry changes rarely; it is published only then.
if summary ~= UNCHANGED and summary ~= (redis.call('HGET', lobby, room) or '') then
  if summary == '' then
    redis.call('HDEL', lobby, room)
  else
    redis.call('HSET', lobby, room, summary)
  end
  redis.call('PUBLISH', lobby_channel, room .. ' ' .. summary)
end
-- The expiry need not be moved by every commit: each write costs time and disk. But every commit
-- leaves most of it ahead, because the next one may be weeks away.
if redis.call('PTTL', log) < ttl * RENEWED_BELOW then
  redis.call('PEXPIRE', log, ttl)
  redis.call('PEXPIRE', secret, ttl)
end
if publish ~= '' then
  redis.call(publish, channel, node .. ' ' .. room .. ' e'
    .. cmsgpack.pack({seq, commit_id, chain, blob, wall, served}))
end
return {'OK', seq}
