-- Appends one commit to a room's log, or says why not. This script is the lock: whoever it lets
-- append has the next seq, and nobody else can have had it. Nothing is written before the last
-- check, because an error inside a script does not undo what came before it.
--
-- KEYS  log, cmd, secret, due, clock, lobby (all of one slot)
-- ARGV  room; channel; channel of the lobby; node; mode (create, append, heal); expected seq;
--       previous chain; commit id; chain; blob; origin or ''; n; not before (served ms) or '';
--       deadline (served ms, +ms from this commit, or ''); summary ('' for none, = for the one that
--       is there); ttl in ms; wall ms of the original (heal) or ''; its served ms or ''

local MOST_PAIRS = 16
local MOST_DOUBT_MS = 5000
local UNCHANGED = '='
local RENEWED_BELOW = 0.75
local log, cmd, secret, due, clock, lobby = unpack(KEYS)
local room, channel, lobby_channel, node, mode, expected, previous, commit_id, chain, blob, origin, n, not_before,
  deadline, summary, ttl, wall, served = unpack(ARGV)
expected, n = tonumber(expected), tonumber(n)

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
    return {'OK', seq, tonumber(found.t), tonumber(found.u)}
  end
end
if mode == 'create' and top then return {'EXISTS'} end

-- The origin's commands as ";n:seq;n:seq;", oldest first.
local pairs_of_origin = ';'
if origin ~= '' then
  pairs_of_origin = redis.call('HGET', cmd, origin) or ';'
  local before = string.match(pairs_of_origin, ';' .. whole(n) .. ':(%d+);')
  if before then return {'DUPLICATE', tonumber(before)} end
  local highest = string.match(pairs_of_origin, ';(%d+):%d+;$')
  if highest and n <= tonumber(highest) then return {'STALE'} end
end

-- The seq alone does not fence a fork that a failover has made.
if top and (top_seq ~= expected or top.c ~= previous) then return {'CONFLICT', top_seq, top.c} end

if mode == 'heal' then
  wall, served = tonumber(wall), tonumber(served)
else
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local beat = redis.call('HMGET', clock, 'served', 'last')
  local since = math.max(now - tonumber(beat[2] or now), 0)
  served = tonumber(beat[1] or 0) + math.min(since, MOST_DOUBT_MS)
  wall = now
  if top then
    wall = math.max(wall, tonumber(top.t))
    served = math.max(served, tonumber(top.u))
  end
  if not_before ~= '' and tonumber(not_before) > served then
    return {'EARLY', tonumber(not_before) - served}
  end
end

redis.call('XADD', log, seq .. '-0', 'i', commit_id, 'c', chain, 'b', blob,
  't', whole(wall), 'u', whole(served))
local first_of_origin = origin ~= '' and pairs_of_origin == ';'
if origin ~= '' then
  pairs_of_origin = pairs_of_origin .. whole(n) .. ':' .. seq .. ';'
  local _, kept = string.gsub(pairs_of_origin, ':', '')
  if kept > MOST_PAIRS then pairs_of_origin = string.gsub(pairs_of_origin, '^;[^;]+', '', 1) end
  redis.call('HSET', cmd, origin, pairs_of_origin)
end
if deadline == '' then
  redis.call('ZREM', due, room)
else
  local at = tonumber(deadline)
  if string.sub(deadline, 1, 1) == '+' then at = served + at end
  redis.call('ZADD', due, whole(at), room)
end
-- What the lobby shows changes seldom, and only then is anybody told.
if summary ~= UNCHANGED and summary ~= (redis.call('HGET', lobby, room) or '') then
  if summary == '' then
    redis.call('HDEL', lobby, room)
  else
    redis.call('HSET', lobby, room, summary)
  end
  redis.call('PUBLISH', lobby_channel, room .. ' ' .. summary)
end
-- A backstop need not be moved by every commit: each write costs time and disk. But every commit
-- leaves most of it ahead, for the next one may be weeks away.
if first_of_origin or redis.call('PTTL', log) < ttl * RENEWED_BELOW then
  redis.call('PEXPIRE', log, ttl)
  redis.call('PEXPIRE', cmd, ttl)
  redis.call('PEXPIRE', secret, ttl)
end
redis.call('PUBLISH', channel, node .. ' ' .. room .. ' e'
  .. cmsgpack.pack({seq, commit_id, chain, blob, wall, served}))
return {'OK', seq, wall, served}
