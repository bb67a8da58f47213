-- Begins a lost log anew with its own first entry. A node that holds the whole log calls this if the
-- store has none: the store may have become an older copy of itself, made before the room. The rest
-- of the log follows with mode `heal` of the append script.
--
-- The store itself tells a lost log from a removed one. A removed log leaves the key `ended` for
-- longer than the age limit of a restore. The clock of an emptied store was created after the room.
--
-- KEYS  log, secret, ended, due, clock, lobby (all of one slot)
-- ARGV  room; channel of the lobby; commit id; chain; blob; wall ms; served ms; wall ms of the
--       newest commit that was lost; ms after which that is too old; secret; deadline (served ms);
--       summary; ttl in ms
-- Returns 1 if the log is there, by this call or another one, else 0

local log, secret, ended, due, clock, lobby = unpack(KEYS)
local room, lobby_channel, commit_id, chain, blob, wall, served, newest, most, own_secret, deadline,
  summary, ttl = unpack(ARGV)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

if redis.call('EXISTS', log) == 1 then
  -- A write: see `append.lua`.
  redis.call('PEXPIRE', log, ttl)
  return 1
end
if redis.call('EXISTS', ended) == 1 or now - tonumber(newest) > tonumber(most) then return 0 end
local beat = redis.call('HMGET', clock, 'born', 'served')
if not beat[1] or tonumber(beat[1]) > tonumber(wall) then return 0 end
-- Another room may be about to begin under that code.
local there = redis.call('GET', secret)
if there and there ~= own_secret then return 0 end

redis.call('XADD', log, '1-0', 'i', commit_id, 'c', chain, 'b', blob, 't', wall, 'u', served)
redis.call('SET', secret, own_secret, 'PX', ttl)
redis.call('PEXPIRE', log, ttl)
redis.call('ZADD', due, deadline, room)
if summary ~= '' then
  redis.call('HSET', lobby, room, summary)
  redis.call('PUBLISH', lobby_channel, room .. ' ' .. summary)
end
return 1
