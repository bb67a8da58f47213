#!lua flags=allow-oom
-- Moves a shard's service clock on and returns rooms that are due. The clock runs only while nodes
-- beat, so an outage of all nodes is charged to no player.
--
-- A full store runs it too: it only overwrites. Due rooms then include old rooms at their end, whose
-- removal frees memory.
--
-- KEYS  clock, due
-- ARGV  1 ms that a beat holds for others    2 ms until a due room is given out again
-- Returns {whether this call was the beat, served ms, wall ms, room, room, ...}

local MOST_DOUBT_MS = 5000
local MOST_ROOMS = 64
local clock, due = KEYS[1], KEYS[2]

local function whole(number) return string.format('%.0f', number) end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local beat = redis.call('HMGET', clock, 'served', 'last')
local served, last = tonumber(beat[1] or 0), tonumber(beat[2] or now)
local since = math.max(now - last, 0)

if beat[2] and since < tonumber(ARGV[1]) and now >= last then return {0, served + since, now} end

served = served + math.min(since, MOST_DOUBT_MS)
-- Tells an emptied store from an older copy of itself: see `restore.lua`.
if not beat[2] then redis.call('HSET', clock, 'born', whole(now)) end
redis.call('HSET', clock, 'served', whole(served), 'last', whole(now))
local answer = {1, served, now}
for _, room in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', whole(served), 'LIMIT', 0, MOST_ROOMS)) do
  -- Given out again later, in case the node that gets it now dies before it acts.
  redis.call('ZADD', due, whole(served + tonumber(ARGV[2])), room)
  answer[#answer + 1] = room
end
return answer
