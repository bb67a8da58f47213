-- Notes that an operator has to be told something about a room. Whoever tells of that room right
-- now, or waits to try again, looks once more when that is done.
--
-- KEYS  rooms (by the time of the next look), busy (by claim), news (all of one slot)
-- ARGV  1 room

local rooms, busy, news = unpack(KEYS)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

if redis.call('HEXISTS', busy, ARGV[1]) == 1 then
  redis.call('SADD', news, ARGV[1])
else
  redis.call('ZADD', rooms, string.format('%.0f', now), ARGV[1])
end
return 1
