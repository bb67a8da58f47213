-- Notes an operator's position in the log of a room, if the claim on the room still holds.
--
-- KEYS  rooms, busy, news, told (all of one slot)
-- ARGV  1 room   2 claim   3 what is told by now
--       4 how it goes on: 'on' (there is more to tell), 'again' (it failed), 'rest' (nothing is
--         left), 'over' (nothing will ever be left)
--       5 ms: the lease, the wait, or the time until the next regular look
-- Returns whether the claim held

local WAITS = 'waits'
local rooms, busy, news, told = unpack(KEYS)
local room, claim, place, how, wait = unpack(ARGV)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

if redis.call('HGET', busy, room) ~= claim then return 0 end
if how == 'over' then
  redis.call('ZREM', rooms, room)
  redis.call('HDEL', busy, room)
  redis.call('SREM', news, room)
  redis.call('HDEL', told, room)
  return 1
end
wait = tonumber(wait)
if how == 'rest' then
  redis.call('HDEL', busy, room)
  if redis.call('SREM', news, room) == 1 then wait = 0 end
elseif how == 'again' then
  -- The room stays busy, so that new commits do not cause an early retry.
  redis.call('HSET', busy, room, WAITS)
end
redis.call('HSET', told, room, place)
redis.call('ZADD', rooms, string.format('%.0f', now + wait), room)
return 1
